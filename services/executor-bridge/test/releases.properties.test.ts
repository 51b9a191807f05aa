import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { deriveParts, type StepsChange, writeSteps } from '@slipway/database'
import { FAILURE_STRATEGIES, ROLLBACK_STRATEGIES, STEP_STATES, stepSourcesOf } from '@slipway/domain'
import { roundsOf } from '@slipway/testing'
import fc from 'fast-check'
import {
  type BridgeWithDatabase,
  type Joined,
  joinInstance,
  type SeededRun,
  seedRun,
  startBridgeWithDatabase,
} from './setup.ts'

let bridge: BridgeWithDatabase
let instance: Joined
let slot = 0

beforeAll(async () => {
  bridge = await startBridgeWithDatabase()
  instance = await joinInstance(bridge, { capacity: 2_000 })
})

afterAll(() => bridge?.close())

const RUNS = 3
const TARGETS = 2
const ACTIONS = 3

const strategies = fc.record({
  failure_strategy: fc.constantFrom(...FAILURE_STRATEGIES),
  rollback_strategy: fc.constantFrom(...ROLLBACK_STRATEGIES),
})
const run = fc.nat({ max: RUNS - 1 })
const place = fc.tuple(fc.nat({ max: TARGETS - 1 }), fc.nat({ max: ACTIONS - 1 }))
const change = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({
      kind: fc.constant('move' as const),
      run,
      places: fc.uniqueArray(place, { selector: String, minLength: 1, maxLength: 4 }),
      to: fc.constantFrom(...STEP_STATES),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose' as const), run }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      run,
      state: fc.constantFrom('success' as const, 'failed' as const, 'cancelled' as const),
    }),
  },
)
type Change = typeof change extends fc.Arbitrary<infer C> ? C : never

const BEGAN = new Date('2026-01-01T00:00:00Z')

/** Carries out a change as the bridge and the dispatcher do. Steps that cannot move stay as they are. */
function carryOut(deploymentId: string, todo: Change, second: number): Promise<unknown> {
  const write = (written: StepsChange) => bridge.database.transaction((tx) => writeSteps(tx, written))
  switch (todo.kind) {
    case 'move': {
      const { to } = todo
      const at = new Date(BEGAN.getTime() + second * 1_000).toISOString()
      const moves = todo.places.map(([target, action]) => ({
        target,
        action,
        sources: stepSourcesOf(to),
        state: to,
        retry_count: null,
        attempt_started_at: null,
        started_at: to === 'running' ? at : null,
        result: null,
        completed_at: to === 'completed' || to === 'failed' ? at : null,
      }))
      return write({ kind: 'moved', deploymentId, leaseBegan: BEGAN, moves })
    }
    case 'lose':
      return write({ kind: 'attempts lost', deploymentIds: [deploymentId], message: 'lost' })
    case 'end':
      return bridge.database.transaction(async (tx) => {
        await tx.query('UPDATE deployments SET state = $2, completed_at = now() WHERE id = $1', [
          deploymentId,
          todo.state,
        ])
        const isCancel = todo.state === 'cancelled'
        const states = isCancel
          ? ({ pending: 'cancelled', running: 'cancelled' } as const)
          : ({ pending: 'skipped', running: 'failed' } as const)
        await writeSteps(tx, { kind: 'closed', deploymentId, ...states, message: 'ended', reason: null })
      })
    default:
      return todo satisfies never
  }
}

/** The rows of the tables, without columns that depend on the moment of the write. */
async function releases(runs: readonly SeededRun[]) {
  const ids = runs.map(({ deploymentId }) => deploymentId)
  const { rows } = await bridge.database.query(
    `SELECT deployment_id, target_id, state, begun_at, CASE state WHEN 'applied' THEN ended_at END AS applied_at
       FROM releases WHERE deployment_id = ANY ($1) ORDER BY 1, 2`,
    [ids],
  )
  const heads = await bridge.database.query(
    // Since when a release is in force does not follow from the steps.
    `SELECT target_id, source_id, current_deployment_id, latest_deployment_id FROM release_heads WHERE source_id = $1 ORDER BY target_id`,
    [runs[0]?.sourceId],
  )
  return { releases: rows, heads: heads.rows }
}

/**
 * The same rows with states and heads computed again from all steps. `begun_at` is kept: a step does not show a lost attempt.
 */
async function recomputed(runs: readonly SeededRun[]) {
  const ids = runs.map(({ deploymentId }) => deploymentId)
  await bridge.database.query('DELETE FROM release_heads WHERE source_id = $1', [runs[0]?.sourceId])
  await bridge.database.query(
    `UPDATE releases SET ended_at = NULL, state = CASE state WHEN 'running' THEN 'failed'::release_state ELSE 'running' END
      WHERE deployment_id = ANY ($1)`,
    [ids],
  )
  await bridge.database.transaction((tx) => deriveParts(tx, ids))
  return releases(runs)
}

test('after random changes in random order, the releases are those computed from the steps', async () => {
  await fc.assert(
    fc.asyncProperty(strategies, fc.array(change, { maxLength: 40 }), async (strategies, changes) => {
      const runs: SeededRun[] = []
      for (let n = 0; n < RUNS; n += 1) {
        const like = runs[0] === undefined ? {} : { like: runs[0] }
        slot += 1
        const shape = { instanceId: instance.id, slot, targets: TARGETS, actions: ACTIONS, maxRetries: 2 }
        runs.push(await seedRun(bridge.database, { ...shape, strategies, ...like }))
      }
      const ended = new Set<number>()
      for (const [second, todo] of changes.entries()) {
        const id = runs[todo.run]?.deploymentId
        if (id === undefined || ended.has(todo.run)) continue
        await carryOut(id, todo, second)
        if (todo.kind === 'end') ended.add(todo.run)
      }
      const written = await releases(runs)
      expect(written).toEqual(await recomputed(runs))
      for (const { deployment_id, state } of written.releases) {
        const run = runs.findIndex(({ deploymentId }) => deploymentId === deployment_id)
        if (ended.has(run)) expect(['running', 'rolling_back']).not.toContain(state)
      }
    }),
    { numRuns: roundsOf(25, 200) },
  )
})
