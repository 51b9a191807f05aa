import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { RunSpec } from '@slipway/contracts'
import { createGate } from '@slipway/testing'
import { FakeBridge } from './support/fake-bridge.ts'
import { specOf } from './support/specs.ts'
import { TestInstance } from './support/test-instance.ts'
import { eventually } from './support/wait.ts'

const MIB = 1024 * 1024
const DISK_MIB = 8
/** The instance looks at the disk every second. */
const SEVERAL_CHECKS_MS = 1_500

const mount = (folder: string) =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'tmpfs', folder]).status === 0

/** Whether a small file system can be mounted, which needs root and CAP_SYS_ADMIN. */
function mayMount(): boolean {
  const probe = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'])
  return process.getuid?.() === 0 && probe.status === 0
}
const onSmallDisk = mayMount() ? test : test.skip
if (!mayMount()) process.stderr.write('disk-full.test.ts: skipped, a file system can be mounted by root only\n')

let bridge: FakeBridge
let instance: TestInstance

beforeEach(async () => {
  bridge = new FakeBridge()
  await bridge.listen()
  instance = new TestInstance(bridge)
  mount(instance.folder)
})

afterEach(async () => {
  await instance.stop()
  spawnSync('umount', ['-l', instance.folder])
  await instance.remove()
  await bridge.close()
  expect(bridge.problems).toEqual([])
})

const filler = () => path.join(instance.folder, 'filler')

/**
 * Fills the disk, as another program could. One write is over before the instance can make room; many small ones
 * could fill that room too.
 */
function fillDisk(): void {
  expect(() => writeFileSync(filler(), Buffer.alloc(DISK_MIB * MIB, 1), { flag: 'a' })).toThrow(/ENOSPC/)
}

const accepts = () => bridge.syncs.at(-1)?.accepts_runs

const becomesFull = () =>
  eventually(
    'the instance is not ready and takes no runs',
    async () => !(await instance.isReady()) && accepts() === false,
  )
const becomesRoomy = () =>
  eventually('the instance is ready again and takes runs', async () => (await instance.isReady()) && accepts() === true)

/** Expects that no attempt was used up, no line is missing, and the instance never ended. */
function expectUnharmed(specs: RunSpec[]): void {
  for (const spec of specs) {
    expect(bridge.eventsOf(spec, 'step_started').filter(({ attempt }) => attempt > 0)).toEqual([])
    const numbers = bridge.lines(spec).map(({ line }) => line)
    expect(numbers).toEqual(numbers.map((_, n) => n))
  }
  expect(instance.isRunning).toBe(true)
}

const COUNT = 10_000
const counting = (name: string, before = 'true') =>
  specOf({ actions: [{ script: `echo ${name}; ${before}; seq -f '${name} %g' 1 ${COUNT}` }] })
const counted = (name: string) => [name, ...Array.from({ length: COUNT }, (_, n) => `${name} ${n + 1}`)]

onSmallDisk('a disk that becomes full under load costs no attempt and no line', async () => {
  await instance.start()
  await becomesRoomy()
  const names = ['a', 'b']
  const gate = createGate({ folder: instance.outside })
  const specs = names.map((name) => counting(name, gate.script))
  await Promise.all(specs.map((spec) => bridge.startRun(spec)))
  // Until its journal is on the disk, an instance with a full disk may decline a run.
  await eventually('both commands run', () => specs.every((spec) => bridge.lines(spec).length > 0))
  gate.open()
  fillDisk()
  await becomesFull()

  const refused = counting('refused')
  await bridge.startRun(refused)
  await eventually('a new run is declined', () =>
    bridge.syncs.some(({ declined }) => declined.some(({ deployment_id }) => deployment_id === refused.deployment_id)),
  )
  expect(specs.some((spec) => bridge.eventsOf(spec, 'finished').length === 0)).toBe(true)

  rmSync(filler())
  await becomesRoomy()
  for (const [index, spec] of specs.entries()) {
    expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success', error_message: null })
    expect(bridge.output(spec)).toEqual(counted(names[index] as string))
  }
  expectUnharmed(specs)
})

onSmallDisk('journals that fill the disk become shorter when the bridge accepts events again', async () => {
  await instance.start()
  const line = 'x'.repeat(200)
  const specs = ['a', 'b'].map(() => specOf({ actions: [{ script: `yes ${line} | head -n 20000` }] }))
  await Promise.all(specs.map((spec) => bridge.startRun(spec)))
  await eventually('output comes', () => specs.every((spec) => bridge.lines(spec).length > 0))
  bridge.takesNoEvents = true
  await becomesFull()
  // Events that the bridge has accepted before may still be removed from the journals.
  await eventually('the journals fill the disk', () => {
    const { bfree, bsize } = statfsSync(instance.folder)
    return bfree * bsize < 2 * MIB
  })
  bridge.takesNoEvents = false
  for (const spec of specs) {
    expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
    expect(bridge.output(spec)).toHaveLength(20_000)
  }
  await becomesRoomy()
  expectUnharmed(specs)
})

onSmallDisk('a step waits for room on the disk within the same attempt', async () => {
  await instance.start()
  const content = bridge.addContent(Buffer.alloc(3 * MIB, 'x'))
  const gate = createGate({ folder: instance.outside })
  const spec = specOf({
    actions: [
      { script: `echo first; ${gate.script}` },
      { script: 'echo second; wc -c <file', files: [{ content, path: 'file', mode: '0644' }] },
    ],
  })
  await bridge.startRun(spec)
  await eventually('the first runs', () => bridge.output(spec).includes('first'))
  fillDisk()
  gate.open()
  await becomesFull()
  await delay(SEVERAL_CHECKS_MS)
  expect(bridge.output(spec)).toEqual(['first'])
  rmSync(filler())
  expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
  expect(bridge.output(spec)).toEqual(['first', 'second', String(3 * MIB)])
  expectUnharmed([spec])
})

onSmallDisk('content that does not fit on the disk fails its step at once', async () => {
  await instance.start()
  const content = bridge.addContent(Buffer.alloc((DISK_MIB - 4) * MIB, 'x'))
  const spec = specOf({ actions: [{ script: 'true', files: [{ content, path: 'file', mode: '0644' }] }] })
  await bridge.startRun(spec)
  expect((await bridge.finished(spec)).error_message).toContain('the disk of the instance is full')
  expect(instance.isRunning).toBe(true)
})

onSmallDisk('unused content is deleted to make room', async () => {
  await instance.start()
  const content = bridge.addContent(Buffer.alloc(2 * MIB, 'x'))
  const spec = specOf({ actions: [{ script: 'true', files: [{ content, path: 'file', mode: '0644' }] }] })
  await bridge.startRun(spec)
  expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
  const cached = path.join(instance.folder, 'content', content)
  expect(existsSync(cached)).toBe(true)
  fillDisk()
  await eventually('the content is gone', () => !existsSync(cached))
  await becomesRoomy()
})

onSmallDisk('a run can be stopped while the disk is full, and its journal is deleted', async () => {
  await instance.start()
  const spec = specOf({ actions: [{ script: `while :; do echo ${'x'.repeat(500)}; done`, timeout_seconds: 600 }] })
  await bridge.startRun(spec)
  await eventually('it runs', () => bridge.lines(spec).length > 0)
  fillDisk()
  await becomesFull()
  bridge.disowned.push(spec)
  bridge.stop(spec)
  await eventually('it is stopped', () => bridge.stopReport(spec) !== undefined)
  expect(bridge.stopReport(spec)).toMatchObject({ unconfirmed: [] })
  expect(readdirSync(path.join(instance.folder, 'journals')).filter((name) => name.endsWith('.journal'))).toEqual([])
  rmSync(filler())
  await becomesRoomy()
})

onSmallDisk('an instance that starts on a full disk waits for room and then continues its run', async () => {
  await instance.start()
  const gate = createGate({ folder: instance.outside })
  const spec = specOf({
    actions: [{ script: `echo first; ${gate.script}`, max_retries: 1 }, { script: 'echo second' }],
  })
  await bridge.startRun(spec)
  await eventually('the first runs', () => bridge.output(spec).includes('first'))
  await instance.stop()
  fillDisk()
  rmSync(path.join(instance.folder, 'journal-reserve'))
  fillDisk()
  await instance.start()
  expect(await instance.isReady()).toBe(false)
  await delay(SEVERAL_CHECKS_MS)
  expect(bridge.output(spec)).toEqual(['first'])
  rmSync(filler())
  gate.open()
  await becomesRoomy()
  expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
  expect(bridge.output(spec)).toEqual(['first', 'first', 'second'])
})
