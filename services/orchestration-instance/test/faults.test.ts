import { randomUUID } from 'node:crypto'
import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { RunSpec } from '@slipway/contracts'
import { completeLines, createGate } from '@slipway/testing'
import { FakeBridge } from './support/fake-bridge.ts'
import { processesWith } from './support/processes.ts'
import { specOf } from './support/specs.ts'
import { TestInstance } from './support/test-instance.ts'
import { eventually } from './support/wait.ts'

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

/** A file in which every script notes its starts, independently of the journal. */
function witness() {
  const file = path.join(instance.outside, `${randomUUID()}.witness`)
  return {
    note: `echo "$SLIPWAY_STEP@$SLIPWAY_TARGET_NAME $SLIPWAY_ATTEMPT" >>${file}`,
    starts: () => completeLines(file),
  }
}

const createTestGate = () => createGate({ folder: instance.outside })

function expectGapless(spec: RunSpec): void {
  const numbers = bridge.lines(spec).map(({ line }) => line)
  expect(numbers).toEqual(numbers.map((_, index) => index))
}

const FIRST_ATTEMPT_WAITS = '[ "$SLIPWAY_ATTEMPT" -gt 1 ] || sleep 600'

describe('after a crash', () => {
  test('the run continues without repeating an attempt', async () => {
    await instance.start()
    const { note, starts } = witness()
    const spec = specOf({
      targets: ['one', 'two'],
      actions: [
        { name: 'a', script: `${note}; echo a` },
        { name: 'b', script: `${note}; echo up; ${FIRST_ATTEMPT_WAITS}`, max_retries: 1 },
      ],
      options: { target_mode: 'parallel' },
    })
    await bridge.startRun(spec)
    await eventually('b runs on both targets', () => bridge.output(spec).filter((text) => text === 'up').length === 2)
    await instance.crash()
    await instance.start()
    expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
    expect([...starts()].sort()).toEqual(['a@one 1', 'a@two 1', 'b@one 1', 'b@one 2', 'b@two 1', 'b@two 2'])
    const told = bridge.lines(spec).filter(({ stream }) => stream === 'system')
    expect(told.map(({ text }) => text).sort()).toEqual([
      'b on one failed: the instance was restarted while the command ran; next attempt (2 of 2)',
      'b on two failed: the instance was restarted while the command ran; next attempt (2 of 2)',
    ])
    expectGapless(spec)
    expect(bridge.joins).toHaveLength(1)
  })

  test('an interrupted command without further attempts has failed, and the run ends by its strategy', async () => {
    await instance.start()
    const { note, starts } = witness()
    const spec = specOf({
      actions: [
        { name: 'a', script: note, rollback_script: 'echo undone' },
        { name: 'b', script: `${note}; echo up; sleep 600` },
        { name: 'c', script: note },
      ],
      options: { rollback_strategy: 'all_executed' },
    })
    await bridge.startRun(spec)
    await eventually('b runs', () => bridge.output(spec).includes('up'))
    await instance.crash()
    await instance.start()
    expect(await bridge.finished(spec)).toMatchObject({
      outcome: 'rolled_back',
      error_message: 'Action "b" failed on target "one": the instance was restarted while the command ran',
    })
    expect(starts()).toEqual(['a@one 1', 'b@one 1'])
    expect(bridge.output(spec)).toContain('undone')
    expect(bridge.eventsOf(spec, 'steps_skipped')).toMatchObject([{ steps: [[0, 2]] }])
  })

  test('an incomplete last line of the journal is ignored', async () => {
    await instance.start()
    const spec = specOf({ actions: [{ script: `echo up; ${FIRST_ATTEMPT_WAITS}`, max_retries: 1 }] })
    await bridge.startRun(spec)
    await eventually('it runs', () => bridge.output(spec).includes('up'))
    await instance.crash()
    appendFileSync(path.join(instance.folder, 'journals', journals()[0] ?? ''), '{"n":99,"event":{"type":"fini')
    await instance.start()
    expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
    expectGapless(spec)
  })

  test('the instance does not continue a run that another instance has taken over', async () => {
    await instance.start()
    const { note, starts } = witness()
    const spec = specOf({ actions: [{ script: `${note}; sleep 600`, max_retries: 3 }] })
    await bridge.startRun(spec)
    await eventually('it runs', () => starts().length === 1)
    await instance.crash()
    bridge.disowned.push(spec)
    await instance.start()
    await eventually('its journal is gone', () => journals().length === 0)
    expect(starts()).toHaveLength(1)
  })

  test('output that the bridge did not accept is sent from the journal', async () => {
    await instance.start()
    const { note, starts } = witness()
    const until = createTestGate()
    const spec = specOf({
      targets: ['one', 'two'],
      options: { target_mode: 'parallel' },
      actions: [{ name: 'a', script: `${until.script}; seq -f '%0200g' 1 2000; ${note}`, max_retries: 1 }],
    })
    await bridge.startRun(spec)
    await eventually('the bridge knows of the starts', () => bridge.eventsOf(spec, 'step_started').length === 2)
    bridge.takesNoEvents = true
    until.open()
    await eventually('both commands have ended', () => starts().length === 2)
    await eventually('the end is in the journal', () => journals().some((name) => has(name, '"type":"finished"')))
    await instance.crash()
    await instance.start()
    bridge.takesNoEvents = false
    expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
    const written = Array.from({ length: 2_000 }, (_, n) => String(n + 1).padStart(200, '0'))
    const output = bridge.lines(spec).filter(({ stream }) => stream === 'stdout')
    for (const one of [0, 1]) {
      expect(output.filter(({ target }) => target === one).map(({ text }) => text)).toEqual(written)
    }
    expectGapless(spec)
  })
})

/** Starts the run and ends the contact during its first command. What the instance reports next stays without an acknowledgement. */
async function loseBridgeDuring(spec: RunSpec, gate: ReturnType<typeof createGate>): Promise<void> {
  await bridge.startRun(spec)
  await eventually('it runs', () => bridge.output(spec).includes('up'))
  await bridge.close()
  gate.open()
}

/** Starts a run of two commands, and ends the contact during the first. */
async function loseBridgeBeforeSecond() {
  const gate = createTestGate()
  const { note, starts } = witness()
  const spec = specOf({
    actions: [
      { name: 'a', script: `${note}; echo up; ${gate.script}` },
      { name: 'b', script: note },
    ],
  })
  await loseBridgeDuring(spec, gate)
  return {
    async expectBothRanOnce() {
      expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
      expect(starts()).toEqual(['a@one 1', 'b@one 1'])
      expect(bridge.output(spec)).toEqual(['up'])
      expectGapless(spec)
    },
  }
}

describe('an instance without the bridge for too long', () => {
  beforeEach(async () => {
    // The instance kills its commands 8 s before the lease ends.
    bridge.lostAfterSeconds = 10
    bridge.syncWaitMs = 100
    await instance.start()
  })

  const untilFenced = async () => {
    await eventually('it has fenced itself', () => instance.output.includes('no sync has succeeded for too long'))
    await bridge.listen()
  }

  test('kills its commands; if it still has the lease, the run continues', async () => {
    const mark = randomUUID()
    const { note, starts } = witness()
    const spec = specOf({
      actions: [
        {
          name: 'a',
          script: `${note}; echo up; ${FIRST_ATTEMPT_WAITS}`,
          max_retries: 1,
          env: { MARK: mark },
        },
      ],
    })
    await bridge.startRun(spec)
    await eventually('it runs', () => bridge.output(spec).includes('up'))
    await bridge.close()
    await eventually('its command is gone', () => processesWith(mark).length === 0)
    expect(instance.isRunning).toBe(true)
    await bridge.listen()
    expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
    expect(starts()).toEqual(['a@one 1', 'a@one 2'])
    expect(bridge.lines(spec).map(({ text }) => text)).toContain(
      'a on one failed: the instance lost contact with Slipway and killed the command; next attempt (2 of 2)',
    )
    expectGapless(spec)
  })

  test('starts later a command that it had reported and not begun, although it has one attempt only', async () => {
    const { expectBothRanOnce } = await loseBridgeBeforeSecond()
    await untilFenced()
    await expectBothRanOnce()
  })

  test('starts later a rollback script that it had reported and not begun', async () => {
    const gate = createTestGate()
    const { note, starts } = witness()
    const spec = specOf({
      actions: [{ name: 'a', script: `echo up; ${gate.script}; exit 1`, rollback_script: note }],
      options: { rollback_strategy: 'all_executed' },
    })
    await loseBridgeDuring(spec, gate)
    await untilFenced()
    expect(await bridge.finished(spec)).toMatchObject({ outcome: 'rolled_back' })
    expect(starts()).toEqual(['a@one 1'])
    expectGapless(spec)
  })
})

test('each sync extends the time in which a command may run', async () => {
  // Without another sync, the instance would kill the command after 2 s.
  bridge.lostAfterSeconds = 10
  bridge.syncWaitMs = 100
  await instance.start()
  const gate = createTestGate()
  const spec = specOf({ actions: [{ script: `${gate.script}; echo done` }] })
  await bridge.startRun(spec)
  await delay(2_500)
  gate.open()
  expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
  expect(bridge.output(spec)).toEqual(['done'])
})

test('a bridge that is down and later refuses the credential for a while costs no attempt and no line', async () => {
  await instance.start()
  const gate = createTestGate()
  const spec = specOf({ actions: [{ script: `echo 1; ${gate.script}; echo 2` }] })
  await bridge.startRun(spec)
  await eventually('it runs', () => bridge.output(spec).includes('1'))
  await bridge.close()
  bridge.knowsNobody = true
  gate.open()
  await bridge.listen()
  await eventually('the instance tells of it', () => instance.output.includes('refuses the credential'))
  bridge.knowsNobody = false
  expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
  expect(bridge.output(spec)).toEqual(['1', '2'])
  expect(bridge.eventsOf(spec, 'step_started')).toHaveLength(1)
  expect(bridge.joins).toHaveLength(1)
})

test('a bridge that loses every second answer gets each event once', async () => {
  await instance.start()
  bridge.losesAnswers = true
  const { note, starts } = witness()
  const actions = ['a', 'b', 'c'].map((name) => ({ name, script: `${note}; echo ${name}` }))
  const spec = specOf({ targets: ['one', 'two'], actions })
  await bridge.startRun(spec)
  expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
  bridge.losesAnswers = false
  expect(new Set(starts()).size).toBe(6)
  expect(bridge.output(spec)).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
  expectGapless(spec)
})

/** The size of all journals in bytes. */
const journalBytes = () =>
  journals().reduce((sum, name) => sum + statSync(path.join(instance.folder, 'journals', name)).size, 0)

test('a command starts only after the bridge has accepted its step_started event', async () => {
  await instance.start()
  bridge.takesNoEvents = true
  const { note, starts } = witness()
  const spec = specOf({ actions: [{ script: note }, { script: note }] })
  await bridge.startRun(spec)
  await eventually('the start is in the journal', () => journals().some((name) => has(name, '"type":"step_started"')))
  await eventually('the bridge refused it', () => bridge.untakenBatches > 1)
  expect(starts()).toEqual([])
  bridge.takesNoEvents = false
  expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
  expect(starts()).toHaveLength(2)
})

test('a rollback script does not start if a cancel comes before the bridge accepts its rollback_started event', async () => {
  await instance.start()
  const { note, starts } = witness()
  const until = createTestGate()
  const spec = specOf({
    options: { rollback_strategy: 'all_executed' },
    actions: [{ script: `${until.script}; exit 1`, rollback_script: note }],
  })
  await bridge.startRun(spec)
  await eventually('the bridge knows of the start', () => bridge.eventsOf(spec, 'step_started').length === 1)
  bridge.takesNoEvents = true
  const before = bridge.untakenBatches
  until.open()
  await eventually('the start is in the journal', () => journals().some((name) => has(name, 'rollback_started')))
  await eventually('the bridge did not take it', () => bridge.untakenBatches > before)
  bridge.stop(spec)
  bridge.takesNoEvents = false
  await eventually('the end is told', () => bridge.stopReport(spec))
  expect(starts()).toEqual([])
})

test('a journal drops the lines that the bridge has accepted, and a crash continues from the rest', async () => {
  await instance.start({ SLIPWAY_JOURNAL_MIB: '1' })
  const { note, starts } = witness()
  const spec = specOf({
    actions: [
      {
        name: 'a',
        script: `seq -f '%0500g' 1 5000; ${note}; [ "$SLIPWAY_ATTEMPT" -gt 1 ] || exec sleep 600`,
        max_retries: 1,
      },
    ],
  })
  await bridge.startRun(spec)
  await eventually('the bridge has all lines', () => bridge.output(spec).length === 5_000)
  await eventually('the first try waits', () => starts().length === 1)
  // 5,000 events are about 3 MB.
  expect(journalBytes()).toBeLessThan(1_500_000)
  await instance.crash()
  await instance.start({ SLIPWAY_JOURNAL_MIB: '1' })
  expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
  expect([...starts()]).toHaveLength(2)
  expect(bridge.output(spec)).toHaveLength(10_000)
  expectGapless(spec)
})

test('commands that write are paused while the journal is full', async () => {
  await instance.start({ SLIPWAY_JOURNAL_MIB: '1' })
  const total = 10_000
  const { note, starts } = witness()
  const until = createTestGate()
  const spec = specOf({
    actions: [{ name: 'a', script: `${until.script}; yes ${'x'.repeat(500)} | head -n ${total}; ${note}` }],
  })
  await bridge.startRun(spec)
  await eventually('the bridge knows of the start', () => bridge.eventsOf(spec, 'step_started').length === 1)
  bridge.takesNoEvents = true
  until.open()
  let last = -1
  await eventually('the journal no longer grows', async () => {
    const before = last
    last = journalBytes()
    await delay(200)
    return last > 800_000 && last === before
  })
  expect(last).toBeLessThan(3_000_000)
  expect(starts()).toEqual([])
  bridge.takesNoEvents = false
  expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
  expect(bridge.output(spec)).toHaveLength(total)
  expectGapless(spec)
})

test('an output beyond the limit keeps its beginning, its end and the size of the missing part', async () => {
  await instance.start({ SLIPWAY_STEP_OUTPUT_BYTES: '10000' })
  // The pause lets the instance read "oops" before "the end", which comes over another pipe.
  const spec = specOf({ actions: [{ script: 'seq 1 100000; echo oops >&2; sleep 0.3; echo the end; exit 3' }] })
  await bridge.startRun(spec)
  expect(await bridge.finished(spec)).toMatchObject({ outcome: 'failed' })
  const output = bridge.output(spec)
  const warnings = bridge.lines(spec).filter(({ level }) => level === 'warning')
  expect(warnings.map(({ text }) => text)).toEqual([
    expect.stringContaining('longer than 10000 bytes'),
    expect.stringContaining('are left out here'),
  ])
  const leftOut = Number(warnings[1]?.metadata?.['left_out_lines'])
  const kept = bridge.lines(spec).flatMap(({ stream, text }) => (stream === 'system' ? [] : [text]))
  expect(kept).toHaveLength(100_002 - leftOut)
  expect(output.slice(0, 3)).toEqual(['1', '2', '3'])
  expect(output.slice(-2)).toEqual(['100000', 'the end'])
  const written = Buffer.byteLength(kept.map((line) => `${line}\n`).join(''))
  // `seq` wrote 588,895 bytes.
  expect(written + Number(warnings[1]?.metadata?.['left_out_bytes'])).toBe(588_895 + 'oops\nthe end\n'.length)
  expect(bridge.eventsOf(spec, 'step_ended')[0]).toMatchObject({ exit_code: 3, stderr_tail: 'oops' })
  expect(bridge.eventsOf(spec, 'step_ended')[0]?.stdout_tail).toMatch(/\n100000\nthe end$/)
  expectGapless(spec)
})

describe('an instance that is stopped', () => {
  test('lets commands end, and starts no other command', async () => {
    instance.endCommandsMs = 20_000
    await instance.start()
    const { note, starts } = witness()
    const gate = createTestGate()
    const spec = specOf({
      actions: [
        { name: 'a', script: `${note}; echo up; ${gate.script}` },
        { name: 'b', script: note },
      ],
    })
    await bridge.startRun(spec)
    await eventually('it runs', () => bridge.output(spec).includes('up'))
    const stopped = instance.stop()
    gate.open()
    await stopped
    expect(starts()).toEqual(['a@one 1'])
    await instance.start()
    expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
    expect(starts()).toEqual(['a@one 1', 'b@one 1'])
  })

  test('kills commands that do not end, and repeats them after a restart', async () => {
    await instance.start()
    const mark = randomUUID()
    const { note, starts } = witness()
    const spec = specOf({
      actions: [{ name: 'a', script: `${note}; echo up; ${FIRST_ATTEMPT_WAITS}`, max_retries: 1, env: { MARK: mark } }],
    })
    await bridge.startRun(spec)
    await eventually('it runs', () => bridge.output(spec).includes('up'))
    await instance.stop()
    expect(processesWith(mark)).toEqual([])
    await instance.start()
    expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
    expect(starts()).toEqual(['a@one 1', 'a@one 2'])
  })

  test('does not resume a killed run while it waits for the end of another command', async () => {
    bridge.syncWaitMs = 50
    await instance.start()
    const { note, starts } = witness()
    const gate = createTestGate()
    const killed = specOf({ actions: [{ script: `echo up; ${note}; sleep 600`, max_retries: 1 }] })
    const stubborn = specOf({
      actions: [
        { script: `trap '${gate.script.replaceAll("'", '"')}; exit' TERM; echo up; while :; do sleep 0.1; done` },
      ],
    })
    for (const spec of [killed, stubborn]) {
      await bridge.startRun(spec)
      await eventually('it runs', () => bridge.output(spec).includes('up'))
    }
    await eventually('it has noted its start', () => starts().length === 1)
    const stopped = instance.stop()
    const before = bridge.syncs.length
    await eventually('the instance sends more syncs', () => bridge.syncs.length > before + 10)
    gate.open()
    await stopped
    expect(starts()).toEqual(['action-0@one 1'])
  })

  test('without the bridge, starts after a restart a command that was reported and not begun', async () => {
    await instance.start()
    const { expectBothRanOnce } = await loseBridgeBeforeSecond()
    const journal = path.join(instance.folder, 'journals', journals()[0] ?? '')
    const isReported = /"type":"step_started",.*"action":1/
    await eventually('the start of b is in the journal', () => isReported.test(readFileSync(journal, 'utf8')))
    await instance.stop()
    await bridge.listen()
    await instance.start()
    await expectBothRanOnce()
  })

  test('during a cancel, still sends the last output of the command', async () => {
    await instance.start()
    const gate = createTestGate()
    const spec = specOf({
      actions: [
        {
          script: `trap '${gate.script.replaceAll("'", '"')}; echo bye; exit' TERM; echo up; while :; do sleep 0.1; done`,
        },
      ],
    })
    await bridge.startRun(spec)
    await eventually('the command runs', () => bridge.output(spec).includes('up'))
    bridge.stop(spec)
    const isStop = (line: string) => line.includes('run stopped') && line.includes(spec.deployment_id)
    await eventually('the instance ends the run', () => instance.output.split('\n').some(isStop))
    const stopped = instance.stop()
    gate.open()
    await stopped
    expect(bridge.output(spec)).toEqual(['up', 'bye'])
  })
})

test('only the owner reads the identity and the journals, and journals have no secrets in clear text', async () => {
  await instance.start()
  expect(statSync(path.join(instance.folder, 'identity.json')).mode & 0o777).toBe(0o600)
  const secret = `hunter2-${randomUUID()}`
  const spec = specOf({
    sensitive: ['password'],
    override_variables: { password: secret },
    actions: [{ script: 'echo "$SLIPWAY_VAR_PASSWORD"; sleep 600' }],
  })
  await bridge.startRun(spec)
  await eventually('it runs', () => bridge.output(spec).length === 1)
  const [name = ''] = journals()
  const file = path.join(instance.folder, 'journals', name)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8')).not.toContain(secret)
  expect(instance.output).not.toContain(secret)
})

const has = (journal: string, text: string) =>
  readFileSync(path.join(instance.folder, 'journals', journal), 'utf8').includes(text)

/** The names of all journals without drafts, which are renamed at any moment. */
function journals(): string[] {
  return readdirSync(path.join(instance.folder, 'journals')).filter((name) => !name.endsWith('.draft'))
}
