import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, test } from '@jest/globals'

/** A user id without an entry in the list of users. */
const NOBODY = 54_321
const dist = path.join(import.meta.dirname, '../dist/index.js')

// Only root can start a process as another user.
const asRoot = process.getuid?.() === 0 ? test : test.skip

asRoot('a user without a name runs commands, with HOME from the environment', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-nobody-'))
  chmodSync(folder, 0o700)
  chownSync(folder, NOBODY, NOBODY)
  const program = `
    const { LocalTransport } = await import(${JSON.stringify(dist)})
    const transport = new LocalTransport(${JSON.stringify(folder)})
    const command = { script: 'id -u; echo $HOME', interpreter: 'sh', environment: {}, workingDirectory: null, files: [] }
    const io = { onOutput: (_, chunk) => void process.stdout.write(chunk) }
    const { exitCode } = await transport.run(command, io, new AbortController().signal)
    transport.shutDown()
    process.exitCode = exitCode`
  try {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      uid: NOBODY,
      gid: NOBODY,
      cwd: '/',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/srv/home' },
      encoding: 'utf8',
      timeout: 120_000,
    })
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: `${NOBODY}\n/srv/home\n`, stderr: '' })
  } finally {
    rmSync(folder, { recursive: true })
  }
})
