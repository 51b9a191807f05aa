import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { canStepTransition, isFinalDeploymentState, STEP_STATES, type StepState } from '@slipway/domain'
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
const ACTIONS = 2

/** One change: some steps of a run get a state, and the run may end. */
const change = fc.record({
  run: fc.nat({ max: RUNS - 1 }),
  places: fc.uniqueArray(fc.tuple(fc.nat({ max: TARGETS - 1 }), fc.nat({ max: ACTIONS - 1 })), {
    selector: String,
    minLength: 1,
    maxLength: 4,
  }),
  to: fc.constantFrom(...STEP_STATES),
  ends: fc.option(fc.constantFrom('success' as const, 'failed' as const, 'cancelled' as const), { freq: 12 }),
})

const OPEN: readonly StepState[] = ['running', 'rolling_back']

/** The rows of the tables, without columns that depend on the moment of the write. */
async function releases(runs: readonly SeededRun[]) {
  const ids = runs.map(({ deploymentId }) => deploymentId)
  const { rows } = await bridge.database.query(
    `SELECT deployment_id, target_id, state, begun_at, CASE state WHEN 'applied' THEN ended_at END AS applied_at
       FROM releases WHERE deployment_id = ANY ($1) ORDER BY 1, 2`,
    [ids],
  )
  const heads = await bridge.database.query('SELECT * FROM release_heads WHERE source_id = $1 ORDER BY target_id', [
    runs[0]?.sourceId,
  ])
  return { releases: rows, heads: heads.rows }
}

/**
 * The same rows with states and heads computed again from the steps. `begun_at` is kept: a step does not show a lost attempt.
 */
async function recomputed(runs: readonly SeededRun[]) {
  const ids = runs.map(({ deploymentId }) => deploymentId)
  await bridge.database.query('DELETE FROM release_heads WHERE source_id = $1', [runs[0]?.sourceId])
  await bridge.database.query(
    `UPDATE releases SET ended_at = NULL, state = CASE state WHEN 'running' THEN 'failed'::release_state ELSE 'running' END
      WHERE deployment_id = ANY ($1)`,
    [ids],
  )
  await bridge.database.query(
    `SELECT write_releases(array_agg(deployment_id), array_agg(target_id)) FROM deployment_targets
      WHERE deployment_id = ANY ($1)`,
    [ids],
  )
  await bridge.database.query('DELETE FROM release_heads WHERE latest_deployment_id IS NULL')
  return releases(runs)
}

test('after random changes in random order, the releases are those computed from the steps', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 40 }), async (changes) => {
      const runs: SeededRun[] = []
      for (let n = 0; n < RUNS; n += 1) {
        const like = runs[0] === undefined ? {} : { like: runs[0] }
        slot += 1
        runs.push(
          await seedRun(bridge.database, {
            instanceId: instance.id,
            slot,
            targets: TARGETS,
            actions: ACTIONS,
            ...like,
          }),
        )
      }
      const states = new Map<string, StepState>()
      const ended = new Set<number>()
      for (const [second, { run, places, to, ends }] of changes.entries()) {
        const id = runs[run]?.deploymentId
        if (id === undefined || ended.has(run)) continue
        const stateOf = ([target, action]: [number, number]) => states.get(`${run} ${target} ${action}`) ?? 'pending'
        const moved = places.filter((place) => canStepTransition(stateOf(place), to))
        for (const [target, action] of moved) states.set(`${run} ${target} ${action}`, to)
        await bridge.database.query(
          `UPDATE steps SET state = $4::step_state,
                  started_at = CASE $4 WHEN 'running' THEN coalesce(started_at, '2026-01-01'::timestamptz + make_interval(secs => $5))
                                       WHEN 'pending' THEN NULL
                                       ELSE started_at END,
                  completed_at = CASE WHEN $4 IN ('completed', 'failed') THEN '2026-01-01'::timestamptz + make_interval(secs => $5)
                                      ELSE completed_at END
            WHERE deployment_id = $1
              AND (target_index, action_index) IN (SELECT * FROM unnest($2::int[], $3::int[]))`,
          [id, moved.map(([target]) => target), moved.map(([, action]) => action), to, second],
        )
        if (ends !== null && isFinalDeploymentState(ends)) {
          ended.add(run)
          await bridge.database.query('UPDATE deployments SET state = $2, completed_at = now() WHERE id = $1', [
            id,
            ends,
          ])
        }
      }
      const written = await releases(runs)
      expect(written).toEqual(await recomputed(runs))
      for (const { deployment_id, state } of written.releases) {
        const run = runs.findIndex(({ deploymentId }) => deploymentId === deployment_id)
        // The dispatcher closes steps that run or roll back when their deployment ends. This test has no dispatcher.
        const open = [...states].some(([place, at]) => place.startsWith(`${run} `) && OPEN.includes(at))
        if (ended.has(run) && !open) expect(['running', 'rolling_back']).not.toContain(state)
      }
    }),
    { numRuns: roundsOf(25, 200) },
  )
})
