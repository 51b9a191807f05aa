import { expect, test } from '@jest/globals'
import { type Database, deriveParts, type Queryable } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'
import { roundsOf, testLogger } from '@slipway/testing'
import fc from 'fast-check'
import { cancelDeployment } from '../src/deployments/cancel.ts'
import { confirmEnds } from '../src/deployments/close-steps.ts'
import { finishDeployment } from '../src/deployments/finish.ts'
import { dispatchQueue } from '../src/dispatch/dispatch-queue.ts'
import { createStarter } from '../src/dispatch/starter.ts'
import { cancelPending } from '../src/pending/cancel.ts'
import { applySettings } from '../src/pending/settings.ts'
import { updatePending } from '../src/pending/update.ts'
import { createSweep } from '../src/runs/sweep.ts'
import { testDatabase } from './database.ts'
import { ADMIN, addInstance, clear, loseInstance, queue } from './fixtures.ts'
import { targetsOf } from './targets.ts'

/**
 * Random requests for overlapping targets, some at the same time, by dispatchers that may die at any statement. After
 * each round the test computes the rule of docs/decisions/0063-one-deployment-per-target.md from steps, leases and queue.
 */
const db = await testDatabase()
const { database, asDispatcher } = db
const { addTargets, command } = targetsOf(db)
const quiet = { ...testLogger, error: () => {}, warn: () => {} }
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']
const STRATEGIES = ['none', 'failed_target_only', 'all_executed'] as const

/** The error of a connection that is lost. */
class Crash extends Error {
  override name = 'Crash'
  readonly code = 'ECONNRESET'
}

function dying(at: number | null): Database {
  if (at === null) return asDispatcher
  let left = at
  return {
    ...asDispatcher,
    transaction: (work) =>
      asDispatcher.transaction((tx) => {
        const query: Queryable['query'] = (text, values) => {
          left -= 1
          return left < 0 ? Promise.reject(new Crash()) : tx.query(text, values)
        }
        return work({ ...tx, query })
      }),
  }
}

const which = fc.nat({ max: 30 })
const action = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('start' as const),
      targets: fc.subarray(NAMES, { minLength: 1 }),
      priority: fc.integer({ min: -1, max: 1 }),
      strategy: fc.constantFrom(...STRATEGIES),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('end part' as const),
      which,
      target: which,
      states: fc.constantFrom(
        ['completed', 'completed', 'completed'],
        ['completed', 'failed', 'skipped'],
        ['skipped', 'skipped', 'skipped'],
        ['running', 'pending', 'pending'],
      ),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('finish' as const, 'cancel' as const), which }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('cancel pending' as const, 'urge' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('lose' as const, 'stopped' as const) }) },
)
const step = fc.record({ action, diesAt: fc.option(fc.integer({ min: 0, max: 20 }), { freq: 4, nil: null }) })
const rounds = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 4, maxLength: 14 })
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

const rowsOf = async <R extends Record<string, unknown>>(sql: string, values: unknown[] = []) =>
  (await database.query<R>(sql, values)).rows
const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % Math.max(1, list.length)]
const received = () => ({ command_id: uuidv7(), request_id: null })
const live = () =>
  rowsOf<{ deployment_id: string; epoch: number }>(
    'SELECT deployment_id, epoch FROM leases WHERE ended_at IS NULL ORDER BY epoch',
  )

async function carryOut({ action: todo, diesAt }: Step): Promise<void> {
  const by = dying(diesAt)
  const request = async (n: number) =>
    pick(await rowsOf<{ id: string }>(`SELECT id FROM pending_requests WHERE status = 'pending' ORDER BY id`), n)
  switch (todo.do) {
    case 'start': {
      const start = command(todo.targets.join(''), { priority: todo.priority })
      start.plan.options.rollback_strategy = todo.strategy
      start.plan.actions[0] = { ...(start.plan.actions[0] as (typeof start.plan.actions)[number]), has_rollback: true }
      await createStarter({ database: by, logger: quiet })(start, { request_id: null })
      return
    }
    case 'end part': {
      const lease = pick(await live(), todo.which)
      if (!lease) return
      const targets = await rowsOf<{ target_index: number }>(
        'SELECT target_index FROM deployment_targets WHERE deployment_id = $1 ORDER BY 1',
        [lease.deployment_id],
      )
      await database.transaction(async (tx) => {
        // Locks the lease, as the bridge does.
        const held = await tx.query('SELECT FROM leases WHERE epoch = $1 AND ended_at IS NULL FOR SHARE', [lease.epoch])
        if (held.rowCount === 0) return
        await tx.query(
          `UPDATE steps s SET state = (($3::text[])[s.action_index + 1])::step_state, started_at = now()
            WHERE deployment_id = $1 AND target_index = $2 AND state IN ('pending', 'running')`,
          [lease.deployment_id, pick(targets, todo.target)?.target_index ?? 0, todo.states],
        )
        await deriveParts(tx, [lease.deployment_id])
      })
      return
    }
    case 'finish': {
      const lease = pick(await live(), todo.which)
      if (lease) await finishDeployment(by, { ...lease, outcome: 'failed', error_message: null })
      return
    }
    case 'cancel': {
      const lease = pick(await live(), todo.which)
      if (lease) await cancelDeployment(by, { deployment_id: lease.deployment_id, caller: ADMIN }, received())
      return
    }
    case 'cancel pending': {
      const found = await request(todo.which)
      if (found) await cancelPending(by, { pending_request_id: found.id, caller: ADMIN }, received())
      return
    }
    case 'urge': {
      const found = await request(todo.which)
      if (found) await updatePending(by, { pending_request_id: found.id, caller: ADMIN, priority: 2 }, received())
      return
    }
    case 'lose': {
      const [lost] = await rowsOf<{ id: string }>(
        'SELECT id FROM instances WHERE last_heartbeat_at > now() - interval $$30 s$$ ORDER BY id LIMIT 1',
      )
      if (lost) await loseInstance(database, lost.id)
      // Before the sweep, which may die: without an instance nothing starts any more.
      await addInstance(database, 3)
      await createSweep({ database: by, logger: quiet })()
      return
    }
    case 'stopped':
      return confirmAll()
  }
}

/** The instances confirm that the commands of all cancelled deployments have ended. */
async function confirmAll(): Promise<void> {
  const stopped = await rowsOf<{ deployment_id: string; epoch: number }>(
    `SELECT deployment_id, epoch FROM leases WHERE end_reason = 'cancelled' AND stopped_at IS NULL`,
  )
  for (const lease of stopped) await confirmEnds(asDispatcher, { ...lease, unconfirmed: [] })
}

async function attempt(todo: Step): Promise<void> {
  try {
    await carryOut(todo)
  } catch (error) {
    const { name, code } = error as { name: string; code?: string }
    if (name !== 'Crash' && code !== 'CONFLICT' && code !== 'NOT_FOUND') throw error
  }
}

interface Part {
  deployment_id: string
  target_id: string
  strategy: (typeof STRATEGIES)[number]
  states: string[]
  ended: boolean
  killed: boolean
}

/** The parts of deployments that hold their target by the rule. */
async function openParts(): Promise<Part[]> {
  const parts = await rowsOf<Part & Record<string, unknown>>(
    `SELECT t.deployment_id, t.target_id, d.plan_head #>> '{options,rollback_strategy}' AS strategy,
            d.completed_at IS NOT NULL AS ended, array_agg(s.state::text ORDER BY s.action_index) AS states,
            bool_or(s.end_confirmed IS FALSE AND s.state = 'cancelled') AND EXISTS (SELECT FROM leases l WHERE l.deployment_id = d.id
              AND l.end_reason = 'cancelled' AND l.stopped_at IS NULL) AS killed
       FROM deployment_targets t JOIN deployments d ON d.id = t.deployment_id
       JOIN steps s ON s.deployment_id = t.deployment_id AND s.target_index = t.target_index
      GROUP BY d.id, t.deployment_id, t.target_id`,
  )
  return parts.filter(({ strategy, states, ended, killed }) => {
    if (ended) return killed
    if (states.some((state) => ['pending', 'running', 'rolling_back'].includes(state))) return true
    // Only the first action has a rollback script.
    const hasUndo = states[0] === 'completed' || states[0] === 'failed'
    return hasUndo && (strategy === 'all_executed' || (strategy === 'failed_target_only' && states.includes('failed')))
  })
}

const keysOf = (parts: readonly { deployment_id: string; target_id: string }[]) =>
  parts.map(({ deployment_id, target_id }) => `${target_id} ${deployment_id}`).sort()

async function expectRule(): Promise<void> {
  const open = await openParts()
  const held = new Set(open.map(({ target_id }) => target_id))
  expect(held.size).toBe(open.length)
  const locks = await rowsOf<{ deployment_id: string; target_id: string }>(
    'SELECT * FROM target_locks WHERE deployment_id IS NOT NULL',
  )
  expect(keysOf(locks.filter(({ target_id }) => held.has(target_id)))).toEqual(keysOf(open))
}

/** After a dispatch no request is pending that the rule allows to start. */
async function expectNothingWaits(): Promise<void> {
  const [{ free } = { free: 0 }] = await rowsOf<{ free: number }>(
    `SELECT count(*)::int AS free FROM instance_slots s JOIN instances i ON i.id = s.instance_id
      WHERE i.last_heartbeat_at > now() - interval '30 s' AND NOT EXISTS (
        SELECT FROM leases l WHERE l.instance_id = s.instance_id AND l.slot = s.slot AND l.ended_at IS NULL)`,
  )
  if (free === 0) return
  const taken = new Set((await openParts()).map(({ target_id }) => target_id))
  const waiting = await rowsOf<{ id: string; targets: string[] }>(
    `SELECT id, ARRAY(SELECT t ->> 'id' FROM jsonb_array_elements(command #> '{plan,targets}') t) AS targets
       FROM pending_requests WHERE status = 'pending' ORDER BY rank, id`,
  )
  for (const { id, targets } of waiting) {
    expect({ id, mayStart: !targets.some((target) => taken.has(target)) }).toEqual({ id, mayStart: false })
    for (const target of targets) taken.add(target)
  }
}

const dispatchNow = () => dispatchQueue({ database: asDispatcher, logger: quiet, onCommitted() {} })

/** Without new requests, the first of the queue starts after all running deployments end, whatever its targets. */
async function settle(): Promise<void> {
  for (;;) {
    await confirmAll()
    await dispatchNow()
    await expectRule()
    await expectNothingWaits()
    const [first] = await rowsOf<{ id: string }>(
      `SELECT id FROM pending_requests WHERE status = 'pending' ORDER BY rank, id LIMIT 1`,
    )
    const running = await live()
    if (running.length === 0) {
      expect(first).toBeUndefined()
      return
    }
    for (const lease of running)
      await finishDeployment(asDispatcher, { ...lease, outcome: 'failed', error_message: null })
    await dispatchNow()
    if (first) {
      const [{ status } = { status: '' }] = await rowsOf<{ status: string }>(
        'SELECT status FROM pending_requests WHERE id = $1',
        [first.id],
      )
      expect(status).toBe('dispatched')
    }
  }
}

test('no target has two holders, no request waits that may start, and requests for many targets start in the end', async () => {
  await applySettings(asDispatcher, queue)
  await addTargets(Object.fromEntries(NAMES.map((name) => [name, 'queue'])))
  await fc.assert(
    fc.asyncProperty(rounds, async (played) => {
      await clear(database)
      await addInstance(database, 3)
      for (const round of played) {
        await Promise.all([...round.map(attempt), dispatchNow()])
        await expectRule()
        await dispatchNow()
        await expectRule()
        await expectNothingWaits()
      }
      await settle()
    }),
    { numRuns: roundsOf(12, 80), endOnFailure: true },
  )
})
