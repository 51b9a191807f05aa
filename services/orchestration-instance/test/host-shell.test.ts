import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Kill, Lifeline } from '@slipway/commands'
import { processesWith } from './support/processes.ts'
import { SshHost, start, startFamily } from './support/ssh-host.ts'
import { eventually } from './support/wait.ts'

let host: SshHost

beforeAll(async () => {
  host = await SshHost.start()
})

afterAll(() => host.stop())

describe('the shell on the host', () => {
  test('does not ignore INT in commands, and passes on every character', async () => {
    const { made } = host.transport()
    const VALUE = `ā漢\u0081\u0088 "$(id)" \\n \`x\` ' ${String.fromCharCode(1)}\t`
    for (const script of ['true', `sh -c 'kill -INT $$'; printf '%s\\n' "$? $VALUE" 'ā漢\\n'`]) {
      const command = start(made, script, { environment: { VALUE } })
      expect(await command.end).toMatchObject({ exitCode: 0 })
      expect(command.output.stdout).toBe(script === 'true' ? '' : `130 ${VALUE}\nā漢\\n\n`)
    }
  })

  test('distinguishes exit codes from signals, and runs the next command after each', async () => {
    const { made } = host.transport()
    expect(await start(made, 'exit 137').end).toMatchObject({ exitCode: 137, signal: null })
    expect(await start(made, 'kill -SEGV $$').end).toMatchObject({ exitCode: null, signal: 'SIGSEGV' })
    expect(await start(made, '', { workingDirectory: '/no/such' }).end.catch(() => 'refused')).toBe('refused')
    expect(await start(made, 'exit 255').end).toMatchObject({ exitCode: 255, signal: null })
  })

  test('runs a long script as its second command', async () => {
    const { made } = host.transport()
    await start(made, 'true').end
    const command = start(made, `: ${'x'.repeat(200_000)}\necho end`)
    await command.end
    expect(command.output.stdout).toBe('end\n')
  })

  test('that a command kills makes the command fail, and no process is left', async () => {
    const { made } = host.transport()
    const mark = randomUUID()
    const command = start(made, `export MARK=${mark}; echo up; sleep 600 & kill -KILL $PPID; sleep 600`)
    await expect(command.end).rejects.toThrow(`connection to ${host.endpoint} was lost while the command ran`)
    await eventually('nothing is left', () => processesWith(mark).length === 0)
    expect(await start(made, 'true').end).toMatchObject({ exitCode: 0 })
  })

  test('kills a command whose lifeline is not renewed, and not the next command', async () => {
    const lifeline = new Lifeline()
    lifeline.renew(performance.now() + 60_000)
    const { made } = host.transport({ lifeline })
    expect(await start(made, 'true').end).toMatchObject({ exitCode: 0 })
    const { end, mark } = await startFamily(made)
    lifeline.renew(performance.now() + 2_000)
    expect(await end).toEqual({ exitCode: null, signal: 'SIGKILL', confirmed: true })
    await eventually('nothing is left', () => processesWith(mark).length === 0)
    lifeline.renew(performance.now() + 60_000)
    expect(await start(made, 'sleep 1.5').end).toMatchObject({ exitCode: 0 })
  })

  /** A host that runs this in place of the login shell. */
  const hostThat = (says: string) => SshHost.start([`ForceCommand ${says}`])

  test('works after a greeting without a newline, and ignores CDPATH', async () => {
    const greeting = 'printf welcome; printf welcome >&2; export CDPATH=/usr; exec sh -c "$SSH_ORIGINAL_COMMAND"'
    const other = await hostThat(greeting)
    const inside = start(other.transport().made, 'pwd; echo err >&2', { workingDirectory: 'bin' })
    expect(await inside.end).toMatchObject({ exitCode: 0 })
    expect(inside.output).toEqual({ stdout: expect.stringMatching(/^\/.*\/work\/bin\n$/), stderr: 'err\n' })
    await expect(start(other.transport().made, '', { interpreter: 'pwsh' }).end).rejects.toThrow(
      `the interpreter pwsh was not found on ${other.endpoint}`,
    )
    await other.stop()
  })

  /** Makes bash fail to enter /proc, as if the folder did not exist. */
  const NO_PROC = 'BASH_FUNC_cd%%=() { case "$*" in */proc*) return 1 ;; esac; builtin cd "$@"; }'

  /** A host with all programs in one folder, with `shell` as its `sh`, and without some of the programs. */
  async function hostWith(shell: string, without: readonly string[]) {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-programs-'))
    for (const name of readdirSync('/usr/bin')) {
      if (name !== 'sh' && !without.includes(name)) symlinkSync(path.join('/usr/bin', name), path.join(folder, name))
    }
    symlinkSync(path.join('/usr/bin', shell), path.join(folder, 'sh'))
    const settings = [`PATH=${folder}`, ...(without.includes('/proc') ? [`'${NO_PROC}'`] : [])].join(' ')
    const other = await hostThat(`exec env ${settings} ${folder}/sh -c "$SSH_ORIGINAL_COMMAND"`)
    const { made } = other.transport()
    const stop = async () => {
      made.close()
      await other.stop()
      rmSync(folder, { recursive: true })
    }
    return { made, stop }
  }

  test.each([
    ['dash', [], 1],
    ['dash', ['setsid'], undefined],
    ['bash', ['setsid'], undefined],
    ['bash', ['/proc'], 1],
  ])('can be %s, on a host without %j', async (shell, without, leftovers) => {
    const { made, stop } = await hostWith(shell, without)
    const [stubborn, leftover] = [randomUUID(), randomUUID()]
    const first = start(made, `MARK=${leftover} sleep 600 & echo "$0"; exit 3`)
    expect(await first.end).toEqual({
      exitCode: 3,
      signal: null,
      confirmed: true,
      ...(leftovers !== undefined && { leftovers }),
    })
    await eventually('the leftover is gone', () => processesWith(leftover).length === 0)
    const second = await startFamily(made)
    second.cancel(10_000)
    expect(await second.end).toMatchObject({ exitCode: null, confirmed: true })
    await eventually('nothing is left', () => processesWith(second.mark).length === 0)
    const third = start(made, `export MARK=${stubborn}; trap '' TERM; pwd; while :; do sleep 0.1; done`)
    await eventually('it runs', () => third.output.stdout.endsWith('/work\n'))
    third.abort.abort(new Kill('cancelled', 200))
    expect(await third.end).toMatchObject({ exitCode: null, signal: 'SIGKILL', confirmed: true })
    await eventually('nothing is left', () => processesWith(stubborn).length === 0)
    // UID and OPTIND are variables of the shell itself.
    const refused = start(made, 'echo started', { environment: { UID: '7', OPTIND: 'x' } })
    await refused.end
    expect(refused.output).toEqual({ stdout: '', stderr: expect.stringMatching(/UID|number/) })
    const last = start(made, 'pwd; exit 4')
    expect(await last.end).toMatchObject({ exitCode: 4 })
    made.close()
    const folders = [third, last].map(({ output }) => path.dirname(output.stdout.trim()))
    await eventually('their directories are gone', () => !folders.some((folder) => existsSync(folder)))
    await stop()
  })
})
