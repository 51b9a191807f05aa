import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Kill } from '@slipway/commands'
import { serverOf } from './support/processes.ts'
import { SshHost, start } from './support/ssh-host.ts'
import { eventually } from './support/wait.ts'

let host: SshHost

beforeAll(async () => {
  host = await SshHost.start()
})

afterAll(() => host.stop())

describe('files', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-sent-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** A sparse file of zeros: sending it takes a while, and it uses no disk space. */
  function zeros(bytes: number) {
    const source = path.join(folder, randomUUID())
    writeFileSync(source, '')
    truncateSync(source, bytes)
    return { source, content: '0'.repeat(64), path: 'x', mode: '0644' }
  }

  /** The directories of the host with files that are being sent or were sent. */
  const sentTo = () =>
    readdirSync(os.tmpdir())
      .filter((name) => /^slipway\.[0-9a-f]{32}$/.test(name))
      .map((name) => path.join(os.tmpdir(), name))
      .filter((directory) => existsSync(path.join(directory, 'files', '0')))

  test('an abort during the transfer ends the command at once and leaves no files on the host', async () => {
    const { made } = host.transport()
    const before = new Set(sentTo())
    const { end, abort } = start(made, 'echo started', { files: [zeros(4 * 1024 ** 3)] })
    const [directory = ''] = await eventually('they are being sent', () => {
      const fresh = sentTo().filter((each) => !before.has(each))
      return fresh.length > 0 && fresh
    })
    abort.abort(new Kill('stop', 0))
    expect(await end).toMatchObject({ exitCode: null })
    await eventually('the directory is gone', () => !existsSync(directory))
    const next = start(made, 'echo next')
    await next.end
    expect(next.output.stdout).toBe('next\n')
  })

  test('a connection that is lost during the transfer fails the attempt and leaves no files on the host', async () => {
    const { made } = host.transport()
    const server = start(made, 'echo $PPID; sleep 0.2')
    await eventually('it runs', () => server.output.stdout !== '')
    const id = serverOf(Number(server.output.stdout))
    await server.end
    const before = new Set(sentTo())
    const { end } = start(made, 'echo started', { files: [zeros(4 * 1024 ** 3)] })
    const [directory = ''] = await eventually('they are being sent', () => {
      const fresh = sentTo().filter((each) => !before.has(each))
      return fresh.length > 0 && fresh
    })
    process.kill(id, 'SIGKILL')
    await expect(end).rejects.toThrow(/the connection was lost|was lost before the command started/)
    await eventually('the directory is gone', () => !existsSync(directory))
  })

  test.each([
    [
      'prints before SFTP',
      { sftp: 'echo Welcome; exec /usr/lib/openssh/sftp-server' },
      'sends text where SFTP is expected',
    ],
    ['allows one session', { maxSessions: 1 }, 'set MaxSessions of its ssh server to 2 or more'],
    ['lacks the SFTP server', { sftp: '/no/such/sftp-server' }, 'ended at its start (exit code 127)'],
    ['has no SFTP', { sftp: null }, 'offers no SFTP, which is needed to copy files: enable the sftp subsystem'],
  ])('a host that %s gets advice for that', async (_what, server, advice) => {
    const other = await SshHost.start([], {}, server)
    const { made } = other.transport()
    await expect(start(made, 'echo started', { files: [zeros(1)] }).end).rejects.toThrow(advice)
    await expect(start(made, 'exit 7').end).resolves.toMatchObject({ exitCode: 7 })
    made.close()
    await other.stop()
  })

  test('the host refuses a file with a wrong hash', async () => {
    const { made } = host.transport()
    const { end, output } = start(made, 'echo started', { files: [zeros(100)] })
    await expect(end).rejects.toThrow(`the file x was damaged on its way to ${host.endpoint}`)
    expect(output.stdout).toBe('')
  })
})
