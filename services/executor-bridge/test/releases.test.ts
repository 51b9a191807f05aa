import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RunEvent } from '@slipway/contracts'
import { writeSteps } from '@slipway/database'
import { ended, finished, started } from './events.ts'
import {
  type BridgeWithDatabase,
  type Joined,
  joinInstance,
  post,
  type RunOptions,
  type SeededRun,
  seedRun,
  startBridgeWithDatabase,
} from './setup.ts'

let bridge: BridgeWithDatabase
let instance: Joined
let slot = 0

beforeAll(async () => {
  bridge = await startBridgeWithDatabase()
  instance = await joinInstance(bridge, { capacity: 100 })
})

afterAll(() => bridge?.close())

const newRun = (options: Partial<RunOptions> = {}) => {
  slot += 1
  return seedRun(bridge.database, { instanceId: instance.id, slot, actions: 2, targets: 1, ...options })
}

const nextEvents = new Map<string, number>()

/** Sends further events of the run; the bridge must accept them. */
async function send({ deploymentId, epoch }: SeededRun, ...events: RunEvent[]): Promise<void> {
  const first_event = nextEvents.get(deploymentId) ?? 0
  nextEvents.set(deploymentId, first_event + events.length)
  const url = `${bridge.url}/v1/runs/${deploymentId}/events`
  expect(await post(url, instance.credential, { epoch, first_event, events })).toMatchObject({ status: 200 })
}

/** Ends the deployment as the dispatcher does: first its state, then its open steps. */
async function finish({ deploymentId }: SeededRun, state: 'success' | 'failed' | 'cancelled' | 'rolled_back') {
  await bridge.database.transaction(async (tx) => {
    await tx.query('UPDATE deployments SET state = $2, completed_at = now() WHERE id = $1', [deploymentId, state])
    const isCancel = state === 'cancelled'
    const states = isCancel
      ? ({ pending: 'cancelled', running: 'cancelled' } as const)
      : ({ pending: 'skipped', running: 'failed' } as const)
    await writeSteps(tx, { kind: 'closed', deploymentId, ...states, message: 'the deployment ended', reason: null })
  })
}

/** The state of the run's release on a target; null without one. */
async function stateOf(run: SeededRun, target = 0): Promise<string | null> {
  const { rows } = await bridge.database.query<{ state: string }>(
    'SELECT state FROM releases WHERE deployment_id = $1 AND target_id = $2',
    [run.deploymentId, run.targetIds[target]],
  )
  return rows[0]?.state ?? null
}

/** The release in force on a target and the latest release there, each by the name of its run. */
async function headsOf(runs: Record<string, SeededRun>, target = 0) {
  const [{ sourceId, targetIds }] = Object.values(runs) as [SeededRun]
  const { rows } = await bridge.database.query<{ current: string | null; latest: string | null }>(
    `SELECT current_deployment_id AS current, latest_deployment_id AS latest FROM release_heads
      WHERE source_id = $1 AND target_id = $2`,
    [sourceId, targetIds[target]],
  )
  const nameOf = (id: string | null | undefined) =>
    Object.keys(runs).find((name) => runs[name]?.deploymentId === id) ?? null
  return { current: nameOf(rows[0]?.current), latest: nameOf(rows[0]?.latest) }
}

const at = (second: number) => `2026-01-31T09:00:${String(second).padStart(2, '0')}.000Z`
const start = (target: number, action: number, second = 0) =>
  ({ ...started(target, action), at: at(second) }) as RunEvent
const end = (target: number, action: number, second = 1, fields: Parameters<typeof ended>[2] = {}) =>
  ended(target, action, { at: at(second), ...fields })
const FAILED = { state: 'failed', exit_code: 1, error_message: 'exit code 1' } as const
const undo = (target: number, action: number, ok = true): RunEvent[] => [
  { type: 'rollback_started', at: at(30), target, action },
  { type: 'rollback_ended', at: at(31), target, action, ok, error_message: null },
]

/** Start and end of both commands of a target, beginning at this second. */
const applied = (target: number, second: number) => [
  ...[start(target, 0, second), end(target, 0, second + 1)],
  ...[start(target, 1, second + 1), end(target, 1, second + 2)],
]

describe('the release of a target', () => {
  test('begins with its first command and is applied with its last', async () => {
    const run = await newRun({ targets: 2 })
    expect(await stateOf(run)).toBeNull()
    await send(run, start(0, 0))
    expect(await stateOf(run)).toBe('running')
    expect(await headsOf({ run })).toEqual({ current: null, latest: 'run' })
    await send(run, end(0, 0), start(0, 1, 1))
    expect(await stateOf(run)).toBe('running')
    await send(run, end(0, 1, 2))
    expect(await stateOf(run)).toBe('applied')
    expect(await headsOf({ run })).toEqual({ current: 'run', latest: 'run' })
    expect(await stateOf(run, 1)).toBeNull()
  })

  test('is applied at the end of its last command', async () => {
    const run = await newRun()
    await bridge.database.query('UPDATE leases SET acquired_at = $2 WHERE deployment_id = $1', [
      run.deploymentId,
      at(0),
    ])
    await send(run, ...applied(0, 10))
    const { rows } = await bridge.database.query('SELECT begun_at, ended_at FROM releases WHERE deployment_id = $1', [
      run.deploymentId,
    ])
    expect(rows).toEqual([{ begun_at: new Date(at(10)), ended_at: new Date(at(12)) }])
  })

  test('is failed after a failed command, and the former release stays in force', async () => {
    const before = await newRun()
    await send(before, ...applied(0, 0), finished())
    const run = await newRun({ like: before })
    await send(run, start(0, 0, 10), end(0, 0, 11, FAILED), { type: 'steps_skipped', at: at(11), steps: [[0, 1]] })
    expect(await stateOf(run)).toBe('failed')
    expect(await headsOf({ before, run })).toEqual({ current: 'before', latest: 'run' })
  })

  test('is failed if the run ends before its last command', async () => {
    const run = await newRun()
    await send(run, start(0, 0), end(0, 0))
    await finish(run, 'failed')
    expect(await stateOf(run)).toBe('failed')
  })

  test('does not exist for targets that the run never reached', async () => {
    const run = await newRun({ targets: 2 })
    await send(run, start(0, 0), end(0, 0, 1, FAILED))
    await finish(run, 'failed')
    expect([await stateOf(run, 0), await stateOf(run, 1)]).toEqual(['failed', null])
  })

  test('is applied in spite of a failed command if failures are ignored', async () => {
    const run = await newRun({ strategies: { failure_strategy: 'ignore_failures' } })
    await send(run, start(0, 0), end(0, 0, 1, FAILED), start(0, 1, 1), end(0, 1, 2))
    expect(await stateOf(run)).toBe('applied')
  })

  test('is cancelled with its deployment, except on targets where it is applied already', async () => {
    const run = await newRun({ targets: 3 })
    await send(run, ...applied(0, 0), start(1, 0))
    await finish(run, 'cancelled')
    expect([await stateOf(run, 0), await stateOf(run, 1), await stateOf(run, 2)]).toEqual([
      'applied',
      'cancelled',
      null,
    ])
  })

  test('is cancelled between two commands', async () => {
    const run = await newRun()
    await send(run, start(0, 0), end(0, 0))
    await finish(run, 'cancelled')
    expect(await stateOf(run)).toBe('cancelled')
  })

  test('is cancelled while its command waits for another instance after a loss', async () => {
    const run = await newRun()
    await send(run, start(0, 0))
    await bridge.database.query(
      `UPDATE steps SET state = 'pending', started_at = NULL, retry_count = 1 WHERE deployment_id = $1`,
      [run.deploymentId],
    )
    await finish(run, 'cancelled')
    expect(await stateOf(run)).toBe('cancelled')
  })

  test('continues after its instance is lost and the command is repeated', async () => {
    const run = await newRun()
    await send(run, start(0, 0))
    await bridge.database.query(
      `UPDATE steps SET state = 'pending', started_at = NULL, retry_count = 1 WHERE deployment_id = $1`,
      [run.deploymentId],
    )
    expect(await stateOf(run)).toBe('running')
    await send(run, start(0, 0, 3), end(0, 0, 4), start(0, 1, 4), end(0, 1, 5))
    expect(await stateOf(run)).toBe('applied')
  })
})

describe('a rollback', () => {
  test('makes the former release the one in force again', async () => {
    const before = await newRun()
    await send(before, ...applied(0, 0), finished())
    const run = await newRun({ like: before, strategies: { rollback_strategy: 'all_executed' } })
    await send(run, ...applied(0, 10))
    expect(await headsOf({ before, run })).toEqual({ current: 'run', latest: 'run' })
    const [begin, done] = undo(0, 1) as [RunEvent, RunEvent]
    await send(run, begin)
    expect(await stateOf(run)).toBe('rolling_back')
    expect(await headsOf({ before, run })).toEqual({ current: 'before', latest: 'run' })
    await send(run, done)
    expect(await stateOf(run)).toBe('rolling_back')
    await send(run, ...undo(0, 0), finished('rolled_back'))
    expect(await stateOf(run)).toBe('rolled_back')
    expect(await headsOf({ before, run })).toEqual({ current: 'before', latest: 'run' })
  })

  test('of a failed target leaves the others as they are', async () => {
    const run = await newRun({
      targets: 2,
      strategies: { failure_strategy: 'continue_on_failure', rollback_strategy: 'failed_target_only' },
    })
    await send(run, ...applied(0, 0), start(1, 0), end(1, 0, 1), start(1, 1, 1), end(1, 1, 2, FAILED))
    expect([await stateOf(run, 0), await stateOf(run, 1)]).toEqual(['applied', 'failed'])
    await send(run, ...undo(1, 1), ...undo(1, 0), finished('rolled_back'))
    expect([await stateOf(run, 0), await stateOf(run, 1)]).toEqual(['applied', 'rolled_back'])
  })

  test('that fails leaves no release of the run in force', async () => {
    const run = await newRun({ strategies: { rollback_strategy: 'all_executed' } })
    await send(run, ...applied(0, 0), ...undo(0, 1, false), ...undo(0, 0))
    expect(await stateOf(run)).toBe('rollback_failed')
    expect(await headsOf({ run })).toEqual({ current: null, latest: 'run' })
  })

  test('that is interrupted between two scripts ends with its deployment', async () => {
    const run = await newRun({ strategies: { rollback_strategy: 'all_executed' } })
    await send(run, ...applied(0, 0), ...undo(0, 1))
    expect(await stateOf(run)).toBe('rolling_back')
    await finish(run, 'failed')
    expect(await stateOf(run)).toBe('rolled_back')
  })

  test('of an older run leaves the later release in force; the rollback of both restores the one before', async () => {
    const first = await newRun()
    await send(first, ...applied(0, 0))
    const second = await newRun({ like: first, strategies: { rollback_strategy: 'all_executed' } })
    await send(second, ...applied(0, 10))
    const third = await newRun({ like: first, strategies: { rollback_strategy: 'all_executed' } })
    await send(third, ...applied(0, 20))
    await send(second, ...undo(0, 1), ...undo(0, 0))
    expect(await headsOf({ first, second, third })).toEqual({ current: 'third', latest: 'third' })
    await send(third, ...undo(0, 1), ...undo(0, 0))
    expect(await headsOf({ first, second, third })).toEqual({ current: 'first', latest: 'third' })
  })
})

describe('several runs of a source on a target', () => {
  test('leave the one in force that was applied last, in whatever order they are reported', async () => {
    const early = await newRun()
    const late = await newRun({ like: early })
    await send(late, ...applied(0, 20))
    await send(early, ...applied(0, 0))
    expect(await headsOf({ early, late })).toEqual({ current: 'late', latest: 'late' })
  })

  test('store the release that each of them replaced', async () => {
    const first = await newRun()
    await send(first, ...applied(0, 0))
    const second = await newRun({ like: first })
    await send(second, start(0, 0, 10))
    const { rows } = await bridge.database.query(
      'SELECT replaced_deployment_id AS id FROM releases WHERE deployment_id = $1',
      [second.deploymentId],
    )
    expect(rows).toEqual([{ id: first.deploymentId }])
  })

  test('do not block each other when they report at the same time', async () => {
    const one = await newRun({ targets: 40, actions: 1 })
    const two = await newRun({ like: one, actions: 1 })
    const events = (order: number[]) => order.flatMap((target) => [start(target, 0), end(target, 0, 2)])
    const targets = Array.from({ length: 40 }, (_, target) => target)
    await Promise.all([send(one, ...events(targets)), send(two, ...events(targets.toReversed()))])
    const { rows } = await bridge.database.query(
      `SELECT count(*) AS heads, count(DISTINCT current_deployment_id) AS current FROM release_heads WHERE source_id = $1`,
      [one.sourceId],
    )
    // Both runs ended at the same time. The run with the higher id is in force on all targets.
    expect(rows).toEqual([{ heads: 40, current: 1 }])
  })
})
