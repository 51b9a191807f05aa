import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Kill } from '@slipway/commands'
import { startTcpProxy } from '@slipway/testing'
import { SshConnections } from '../src/transports/ssh/connections.ts'
import { commandOf, startOn } from './support/commands.ts'
import { processesWith, serverOf } from './support/processes.ts'
import { SshHost, start, startFamily } from './support/ssh-host.ts'
import { eventually } from './support/wait.ts'

let host: SshHost

beforeAll(async () => {
  host = await SshHost.start()
})

afterAll(() => host.stop())

describe('commands', () => {
  test('exit codes, signals, both streams and the environment are passed on unchanged', async () => {
    const { made } = host.transport()
    const value = `it's "$(id)"\n\\ {{ x }}`
    const first = start(made, 'printf "%s" "$VALUE"; echo err >&2; echo more >/dev/stderr; exit 9', {
      environment: { VALUE: value },
    })
    expect(await first.end).toEqual({ exitCode: 9, signal: null, confirmed: true })
    expect(first.output).toEqual({ stdout: value, stderr: 'err\nmore\n' })
    expect(await start(made, 'kill -KILL $$').end).toEqual({ exitCode: null, signal: 'SIGKILL', confirmed: true })
  })

  test('the next command uses the same connection', async () => {
    const { made } = host.transport()
    const server = async () => {
      const command = start(made, 'echo $PPID; sleep 0.2')
      await eventually('it runs', () => command.output.stdout !== '')
      const found = serverOf(Number(command.output.stdout))
      await command.end
      return found
    }
    expect(await server()).toBe(await server())
  })

  test('two commands at the same time have separate connections', async () => {
    const { made } = host.transport()
    const commands = [1, 2].map(() => start(made, 'echo $PPID; sleep 0.5'))
    await Promise.all(commands.map(({ end }) => end))
    const [one, other] = commands.map(({ output }) => output.stdout)
    expect(one).not.toBe(other)
  })

  test('a command uses the connection that was opened ahead, and fails with the error of that connection', async () => {
    const proxy = await startTcpProxy(`tcp://${host.endpoint}`)
    const port = Number(new URL(proxy.url).port)
    let greetings = 0
    proxy.onSent((bytes) => {
      if (bytes.includes('SSH-2.0')) greetings += 1
    })
    const { made, hostKeys } = host.transport({ port })
    made.prepare(new AbortController().signal)
    await eventually('the host is known', () => hostKeys.length === 1)
    expect(await start(made, 'exit 3').end).toMatchObject({ exitCode: 3 })
    expect(greetings).toBe(1)

    const early = host.transport({ port })
    early.made.prepare(new AbortController().signal)
    early.made.close()
    const probed = host.transport({ port })
    probed.made.prepare(new AbortController().signal)
    expect(await start(probed.made, 'exit 5').end).toMatchObject({ exitCode: 5 })
    expect(early.hostKeys).toEqual([])

    await proxy.close()
    const late = host.transport({ port: 1 })
    late.made.prepare(new AbortController().signal)
    await expect(start(late.made, 'true').end).rejects.toThrow('connection refused by 127.0.0.1:1')
    const hung = host.transport({ private_key: host.sshd.strangersKey })
    hung.made.prepare(new AbortController().signal)
    await new Promise((resolve) => setTimeout(resolve, 500))
    await expect(start(hung.made, 'true').end).rejects.toThrow('authentication failed')
  })

  test('each command has an empty directory, which is deleted when the connection closes', async () => {
    const { made } = host.transport()
    const command = start(made, 'ls -A; pwd; touch left')
    await command.end
    const folder = command.output.stdout.trim()
    expect(folder).toMatch(/^\/.*\/slipway\.[^/]+\/work$/)
    for (const left of ['a-file', '.hidden', '..odd', 'a/folder']) {
      const next = start(
        made,
        `ls -A; mkdir -p "$(dirname ${left})"; touch ${left}; chmod 0 ${left}; ln -s /no/such link`,
      )
      expect(await next.end).toMatchObject({ exitCode: 0 })
      expect(next.output.stdout).toBe('')
    }
    for (const workingDirectory of ['a/b', '-']) {
      const inside = start(made, 'pwd', { workingDirectory })
      await inside.end
      expect(inside.output.stdout).toBe(`${folder}/${workingDirectory}\n`)
    }
    made.close()
    await eventually('the directory is removed', () => !existsSync(path.dirname(folder)))
  })

  test('other interpreters work, and a missing interpreter or directory gives a clear error', async () => {
    const { made } = host.transport()
    const python = start(made, 'import os; print(os.environ["A"])', { interpreter: 'python3', environment: { A: 'é' } })
    await python.end
    expect(python.output.stdout).toBe('é\n')
    const endpoint = host.endpoint
    await expect(start(made, '', { workingDirectory: '/no/such' }).end).rejects.toThrow(
      `the working directory /no/such does not exist on ${endpoint}`,
    )
    await expect(start(made, '', { interpreter: 'pwsh' }).end).rejects.toThrow(
      `the interpreter pwsh was not found on ${endpoint}`,
    )
  })

  test('the arguments of processes contain nothing of the script and its values', async () => {
    const { made } = host.transport()
    const secret = randomUUID()
    const command = start(
      made,
      `: ${secret}; tr '\\0' ' ' </proc/[0-9]*/cmdline 2>/dev/null; cat /proc/[0-9]*/cmdline`,
      {
        environment: { SECRET: secret },
      },
    )
    await command.end
    expect(command.output.stdout).toContain('sshd')
    expect(command.output.stdout).not.toContain(secret)
  })

  test('a slow consumer gets a large output completely', async () => {
    const { made } = host.transport()
    let length = 0
    const command = commandOf({ script: 'head -c 3000000 /dev/zero | tr "\\0" x' })
    const io = {
      onOutput: async (_stream: string, chunk: Buffer) => {
        await new Promise((resolve) => setTimeout(resolve, 1))
        length += chunk.length
      },
    }
    await made.run(command, io, new AbortController().signal)
    expect(length).toBe(3_000_000)
  })

  test('a daemon in its own session may live on; processes in the group of the command are killed', async () => {
    const { made } = host.transport()
    const [daemon, leftover] = [randomUUID(), randomUUID()]
    const command = start(made, `MARK=${daemon} setsid sleep 600 & MARK=${leftover} sleep 600 & echo done`)
    expect(await command.end).toMatchObject({ exitCode: 0, leftovers: 1 })
    expect(command.output.stdout).toBe('done\n')
    await eventually('the leftover is gone', () => processesWith(leftover).length === 0)
    const [survivor] = processesWith(daemon)
    expect(survivor).toBeGreaterThan(0)
    process.kill(survivor as number, 'SIGKILL')
  })
})

describe('a kill', () => {
  test('before the start prevents the start', async () => {
    const { made } = host.transport()
    const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'slipway-killed-')), 'started')
    for (const before of ['without a connection', 'over one']) {
      const abort = new AbortController()
      abort.abort(new Kill(before, 0))
      await expect(startOn(made, { script: `touch ${file}` }, abort).end).rejects.toThrow(before)
      expect(await start(made, 'true').end).toMatchObject({ exitCode: 0 })
    }
    expect(existsSync(file)).toBe(false)
    rmSync(path.dirname(file), { recursive: true })
  })
})

describe('a connection that fails', () => {
  /** The host behind a proxy that can cut the connection or drop its data. */
  async function behindProxy(over?: SshConnections) {
    const proxy = await startTcpProxy(`tcp://${host.endpoint}`)
    const port = Number(new URL(proxy.url).port)
    const lost = `connection to 127.0.0.1:${port} was lost while the command ran`
    return { proxy, lost, ...host.transport({ port, ...(over && { over }) }) }
  }

  test.each(['by the network', 'by the server'])(
    'because it is cut %s fails the command, and no process is left',
    async (who) => {
      const { proxy, lost, made } = await behindProxy()
      const { end, mark, output } = await startFamily(made, 'echo $PPID; ')
      if (who === 'by the network') proxy.cut()
      else process.kill(serverOf(Number.parseInt(output.stdout, 10)), 'SIGKILL')
      await expect(end).rejects.toThrow(lost)
      await eventually('nothing is left', () => processesWith(mark).length === 0)
      expect(await start(made, 'true').end).toMatchObject({ exitCode: 0 })
      await proxy.close()
    },
  )

  test('because its data is dropped is detected by the keep-alive', async () => {
    const impatient = new SshConnections({ handshakes: 1, keyExchanges: ['curve25519-sha256'], keepAliveMs: 200 })
    const { proxy, lost, made } = await behindProxy(impatient)
    const { end } = await startFamily(made)
    proxy.freeze()
    await expect(end).rejects.toThrow(lost)
    impatient.close()
    await proxy.close()
  })

  test('while no command runs only makes the next command open a new connection', async () => {
    const { proxy, made } = await behindProxy()
    const server = async () => {
      const command = start(made, 'echo $PPID')
      expect(await command.end).toMatchObject({ exitCode: 0 })
      return command.output.stdout
    }
    const first = await server()
    await new Promise((resolve) => setTimeout(resolve, 200))
    proxy.cut()
    expect(await server()).not.toBe(first)
    await proxy.close()
  })

  test('does not delay the kill of a command that waits for it', async () => {
    const { proxy, made } = await behindProxy()
    expect(await start(made, 'true').end).toMatchObject({ exitCode: 0 })
    await new Promise((resolve) => setTimeout(resolve, 200))
    proxy.freeze()
    const { abort, end } = start(made, 'true')
    const ended = expect(end).rejects.toThrow('enough')
    await new Promise((resolve) => setTimeout(resolve, 200))
    abort.abort(new Kill('enough', 0))
    // This ends long before the keep-alive detects the lost connection.
    await ended
    await proxy.close()
  })
})
