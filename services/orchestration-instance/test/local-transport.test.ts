import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { type Command, Kill, LocalTransport } from '@slipway/commands'
import { commandOf, startOn } from './support/commands.ts'
import { processesWith } from './support/processes.ts'
import { eventually } from './support/wait.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-local-'))
const transport = new LocalTransport(folder)

afterAll(() => {
  transport.shutDown()
  rmSync(folder, { recursive: true, force: true })
})

const start = (script: string, options: Partial<Command> = {}, on = transport) => startOn(on, { script, ...options })

test('exit codes, signals and both streams are reported unchanged, also if the streams are opened by name', async () => {
  const command = start('echo out; echo err >&2; echo named >/dev/stderr; echo tee | tee /dev/stdout; exit 9')
  expect(await command.end).toEqual({ exitCode: 9, signal: null, confirmed: true })
  expect(command.output).toEqual({ stdout: 'out\ntee\ntee\n', stderr: 'err\nnamed\n' })
  expect(await start('kill -SEGV $$').end).toEqual({ exitCode: null, signal: 'SIGSEGV', confirmed: true })
})

test('each command has a new directory, which is deleted afterwards', async () => {
  const command = start('ls -A; pwd; touch left; mkdir sub; cd sub')
  await command.end
  const directory = command.output.stdout.trim()
  expect(path.dirname(path.dirname(directory))).toBe(folder)
  expect(existsSync(path.dirname(directory))).toBe(false)
  const own = start('pwd', { workingDirectory: folder })
  await own.end
  expect(own.output.stdout).toBe(`${folder}\n`)
  const inside = start('pwd', { workingDirectory: 'a/b' })
  await inside.end
  expect(inside.output.stdout.trim()).toMatch(/\/work\/a\/b$/)
})

test.each([
  ['bash', 'a=(x y); [[ -n $V ]] && echo "y-$V"'],
  ['python3', 'import os; print("y-" + os.environ["V"])'],
  ['node', 'console.log("y-" + process.env.V)'],
] as const)('%s runs the script', async (interpreter, script) => {
  const command = start(script, { interpreter, environment: { V: 'é' } })
  expect(await command.end).toMatchObject({ exitCode: 0 })
  expect(command.output.stdout).toBe('y-é\n')
})

test('a command that cannot start fails with the reason', async () => {
  await expect(start('', { workingDirectory: '/no/such' }).end).rejects.toThrow(
    'the working directory /no/such does not exist on the instance',
  )
  await expect(start('', { interpreter: 'pwsh' }).end).rejects.toThrow(
    'the interpreter pwsh was not found on the instance',
  )
  await expect(start('', { environment: { BIG: 'x'.repeat(200_000) } }).end).rejects.toThrow(
    'its variables are too large for an environment',
  )
})

test('a daemon in its own session may live on; processes in the group of the command are killed', async () => {
  const [daemon, leftover] = [randomUUID(), randomUUID()]
  const command = start(`MARK=${leftover} sleep 600 & MARK=${daemon} setsid sleep 600 & echo done`)
  expect(await command.end).toMatchObject({ exitCode: 0, leftovers: 1 })
  expect(command.output.stdout).toBe('done\n')
  await eventually('the leftover is gone', () => processesWith(leftover).length === 0)
  const [survivor] = processesWith(daemon)
  expect(survivor).toBeGreaterThan(0)
  process.kill(survivor as number, 'SIGKILL')
})

test('a kill gives the process group its grace, then kills it', async () => {
  const mark = randomUUID()
  const polite = `sh -c 'trap "echo bye; exit 3" TERM; echo up; while :; do sleep 0.05; done'`
  const command = start(`export MARK=${mark}; ${polite}`)
  await eventually('it runs', () => command.output.stdout === 'up\n')
  command.abort.abort(new Kill('cancelled', 10_000))
  expect(await command.end).toMatchObject({ confirmed: true })
  expect(command.output.stdout).toBe('up\nbye\n')

  const stubborn = start(`export MARK=${mark}; trap '' TERM; (sh -c 'sleep 600 & sleep 600' &); echo up; sleep 600`)
  await eventually('it runs', () => stubborn.output.stdout === 'up\n')
  stubborn.abort.abort(new Kill('cancelled', 500))
  expect(await stubborn.end).toEqual({ exitCode: null, signal: 'SIGKILL', confirmed: true })
  await eventually('nothing is left', () => processesWith(mark).length === 0)
})

test('a kill before the start prevents the start', async () => {
  const mark = path.join(folder, 'never')
  const command = start(`touch ${mark}`)
  command.abort.abort(new Kill('cancelled', 0))
  await command.end.catch(() => {})
  expect(existsSync(mark)).toBe(false)
})

test('a slow consumer gets the whole output in bounded chunks', async () => {
  let length = 0
  let most = 0
  /** By how many bytes the command is ahead of its reader. */
  let lead = 0
  const count = path.join(folder, 'written')
  const command = commandOf({
    script: `echo 0 >${count}; i=0; while [ $i -lt 40 ]; do head -c 50000 /dev/zero | tr "\\0" x; i=$((i+1)); echo $i >${count}; done`,
  })
  const io = {
    onOutput: async (_stream: string, chunk: Buffer) => {
      length += chunk.length
      most = Math.max(most, chunk.length)
      lead = Math.max(lead, 50_000 * Number(readFileSync(count, 'utf8')) - length)
      await new Promise((resolve) => setTimeout(resolve, 20))
    },
  }
  expect(await transport.run(command, io, new AbortController().signal)).toMatchObject({ exitCode: 0 })
  expect(length).toBe(2_000_000)
  expect(most).toBeLessThanOrEqual(1_000_000)
  expect(lead).toBeLessThanOrEqual(500_000)
})

test('only pipes for the next commands are left in the folder', () => {
  expect(readdirSync(folder).filter((name) => !/^(fifo-|never|written)/.test(name))).toEqual([])
})

test('a file with a wrong hash is refused and leaves nothing in the working directory', async () => {
  const source = path.join(folder, 'source')
  writeFileSync(source, 'text')
  const content = createHash('sha256').update('text').digest('hex')
  const right = { source, content, path: 'a/right', mode: '0640' }
  const { end, output } = start('ls -A . a; stat -c %a a/right; cat a/right', { files: [right] })
  await end
  expect(output.stdout).toBe('.:\na\n\na:\nright\n640\ntext')
  const stays = path.join(folder, 'stays')
  mkdirSync(stays)
  const wrong = { ...right, content: '0'.repeat(64), path: 'wrong' }
  const refused = start('echo started', { files: [wrong], workingDirectory: stays })
  await expect(refused.end).rejects.toThrow('the file wrong was damaged on the disk of the instance')
  expect([readdirSync(stays), refused.output.stdout]).toEqual([[], ''])
})

test('a command has its limits, and writes no core dump, which would contain its secrets', async () => {
  const limited = new LocalTransport(folder, { limits: { memoryMib: 4_096, openFiles: 77, fileMib: 1 } })
  const { output, end } = start(
    'ulimit -c; ulimit -v; ulimit -n; ulimit -f; head -c 2000000 /dev/zero >big; echo $?; wc -c <big',
    {},
    limited,
  )
  await end
  const [core, memory, files, , status, size] = output.stdout.trim().split('\n')
  expect([core, memory, files, size]).toEqual(['0', '4194304', '77', '1048576'])
  expect(status).not.toBe('0')
  limited.shutDown()
  const plain = start('ulimit -c; ulimit -v')
  await plain.end
  expect(plain.output.stdout).toBe('0\nunlimited\n')
})
