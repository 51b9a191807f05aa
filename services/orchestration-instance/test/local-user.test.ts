import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { ConfigurationError } from '@slipway/runtime'
import { FakeBridge } from './support/fake-bridge.ts'
import { specOf } from './support/specs.ts'
import { TestInstance } from './support/test-instance.ts'
import { eventually } from './support/wait.ts'

/** A user that exists on every system. */
const USER = 'nobody'
const mayTry = process.getuid?.() === 0 && spawnSync('setpriv', ['--version']).status === 0
const describeAsRoot = mayTry ? describe : describe.skip

let bridge: FakeBridge
let instance: TestInstance

beforeEach(async () => {
  bridge = new FakeBridge()
  await bridge.listen()
  instance = new TestInstance(bridge)
})

afterEach(async () => {
  await instance.remove()
  await bridge.close()
  expect(bridge.problems).toEqual([])
})

test('without SLIPWAY_LOCAL_USER the log says that commands run as the user of the instance', async () => {
  await instance.start()
  expect(instance.output).toContain('local commands run as the user of the instance: SLIPWAY_LOCAL_USER is not set')
})

describeAsRoot('with SLIPWAY_LOCAL_USER', () => {
  const asUser = { SLIPWAY_LOCAL_USER: USER }

  test('a command reads nothing that belongs to the instance or to other runs', async () => {
    const content = bridge.addContent(Buffer.from('content of another tenant'))
    await instance.start(asUser)
    expect(instance.output).toContain('local commands run as the user that SLIPWAY_LOCAL_USER names')
    const other = specOf({
      actions: [{ script: 'cat file', files: [{ content, path: 'file', mode: '0644' }], env: { PLANTED: 'hush' } }],
    })
    await bridge.startRun(other)
    expect(await bridge.finished(other)).toMatchObject({ outcome: 'success' })
    expect(bridge.output(other)).toEqual(['content of another tenant'])

    const { folder } = instance
    const script = `
      id -un
      for place in '${folder}' '${folder}'/*/; do ls "$place" && echo "listed $place"; done
      for file in identity.json join-token content/${content} journals/*; do cat '${folder}/'$file && echo "read $file"; done
      for process in /proc/[0-9]*; do
        tr '\\0' '\\n' <$process/environ | grep -E 'SLIPWAY_JOIN_TOKEN|PLANTED'
      done 2>/dev/null
      exit 0`
    const spec = specOf({ actions: [{ script }] })
    await bridge.startRun(spec)
    expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
    expect(bridge.output(spec)).toEqual([USER])
  })

  test('a restart clears the directories of commands', async () => {
    await instance.start(asUser)
    const spec = specOf({ actions: [{ script: 'echo up; sleep 600' }] })
    await bridge.startRun(spec)
    await eventually('it runs', () => bridge.output(spec).includes('up'))
    const local = () => readdirSync(path.join(instance.folder, 'local-commands'))
    expect(local()).toHaveLength(1)
    await instance.crash()
    expect(local()).toHaveLength(1)
    await instance.start(asUser)
    expect(await bridge.finished(spec)).toMatchObject({ outcome: 'failed' })
    expect(local()).toEqual([])
  })

  test.each([
    [{ SLIPWAY_LOCAL_USER: 'no-such-user' }, 'names the user "no-such-user", which does not exist on this machine'],
    [{ SLIPWAY_LOCAL_USER: 'root' }, 'names the user "root", which has all permissions'],
  ])('the instance does not start with %j', async (settings, message) => {
    await expect(instance.start(settings)).rejects.toThrow(ConfigurationError)
    expect(instance.output).toContain('SLIPWAY_LOCAL_USER')
    expect(instance.output).toContain(message)
  })

  test('the instance does not start with a folder that the user cannot enter, and starts with another folder', async () => {
    const closed = mkdtempSync(path.join(os.tmpdir(), 'slipway-closed-'))
    const open = mkdtempSync(path.join(os.tmpdir(), 'slipway-open-'))
    chmodSync(open, 0o711)
    try {
      await expect(instance.start({ ...asUser, SLIPWAY_LOCAL_DIR: closed })).rejects.toThrow(ConfigurationError)
      expect(instance.output).toMatch(/SLIPWAY_LOCAL_DIR .*the user nobody cannot use the folder .*Permission denied/)
      await instance.start({ ...asUser, SLIPWAY_LOCAL_DIR: open })
      expect(statSync(instance.folder).mode & 0o777).toBe(0o700)
      const spec = specOf({ actions: [{ script: 'pwd' }] })
      await bridge.startRun(spec)
      await bridge.finished(spec)
      expect(bridge.output(spec)[0]).toContain(path.join(open, 'local-commands'))
    } finally {
      rmSync(closed, { recursive: true })
      rmSync(open, { recursive: true })
    }
  })

  test('the instance does not start if the user can read the identity', async () => {
    await instance.start()
    await instance.stop()
    chmodSync(path.join(instance.folder, 'identity.json'), 0o644)
    await expect(instance.start(asUser)).rejects.toThrow(ConfigurationError)
    expect(instance.output).toMatch(/SLIPWAY_LOCAL_USER .*which can read .*identity\.json: remove that permission/)
  })
})
