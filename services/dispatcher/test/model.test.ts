import { expect, test } from '@jest/globals'
import type { Database, Transaction } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'
import { roundsOf, testLogger } from '@slipway/testing'
import fc from 'fast-check'
import { cancelDeployment } from '../src/deployments/cancel.ts'
import { finishDeployment } from '../src/deployments/finish.ts'
import { dispatchQueue } from '../src/dispatch/dispatch-queue.ts'
import { createStarter } from '../src/dispatch/starter.ts'
import { cancelPending } from '../src/pending/cancel.ts'
import { applySettings } from '../src/pending/settings.ts'
import { updatePending } from '../src/pending/update.ts'
import { createSweep } from '../src/runs/sweep.ts'
import { testDatabase } from './database.ts'
import { ADMIN, addInstance, clear, loseInstance, queue, startCommand } from './fixtures.ts'

/**
 * Random commands, some at the same time, by dispatchers on the real Postgres. Their transactions are cut off at random
 * statements. After each round the invariants of queue, leases and states must hold: I3, I4, I5, I12, I14, I15, I16
 * and I24 of docs/invariants.md.
 */
const { database, asDispatcher, catalog } = await testDatabase()
const quiet = { ...testLogger, error: () => {}, warn: () => {} }

/** The error of a connection that is lost. */
class Crash extends Error {
  override name = 'Crash'
  readonly code = 'ECONNRESET'
}

/** A dispatcher that dies: the connection of its transaction ends at the given statement, or right before the commit. */
function dying(at: number | null): Database {
  if (at === null) return asDispatcher
  let left = at
  return {
    ...asDispatcher,
    transaction: (work) =>
      asDispatcher.transaction(async (tx) => {
        const cutOff: Transaction = {
          ...tx,
          query(text, values) {
            left -= 1
            return left < 0 ? Promise.reject(new Crash()) : tx.query(text, values)
          },
        }
        const result = await work(cutOff)
        if (left === 0) throw new Crash()
        return result
      }),
  }
}

type Command =
  | { do: 'start'; priority: number; tenant: boolean; again: boolean }
  | { do: 'dispatch' | 'sweep' | 'heartbeat' }
  | { do: 'enrol'; capacity: number }
  | { do: 'lose' | 'cancel pending' | 'cancel' | 'finish' | 'late finish' | 'drainInstance'; which: number }
  | { do: 'update'; which: number; priority: number }
  | { do: 'freeze'; on: boolean }
type Step = { command: Command; diesAt: number | null }

const priority = fc.integer({ min: -3, max: 3 })
const which = fc.nat({ max: 30 })
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('start' as const), priority, tenant: fc.boolean(), again: fc.boolean() }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('dispatch' as const, 'sweep' as const, 'heartbeat' as const) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('enrol' as const), capacity: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom(
        ...(['lose', 'cancel pending', 'cancel', 'finish', 'finish', 'late finish', 'drainInstance'] as const),
      ),
      which,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('update' as const), which, priority }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('freeze' as const), on: fc.boolean() }) },
)
const step: fc.Arbitrary<Step> = fc.record({
  command,
  diesAt: fc.option(fc.integer({ min: 0, max: 14 }), { freq: 2, nil: null }),
})
/** All steps of a round run at the same time. */
const rounds = fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { minLength: 3, maxLength: 12 })

/** The answers that clients received, which must stay true. */
interface World {
  sent: ReturnType<typeof startCommand>[]
  /** The ids of requests and deployments with an answered cancel. */
  cancelled: Set<string>
}

const received = () => ({ command_id: uuidv7(), request_id: null })
const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % Math.max(1, list.length)]
const rowsOf = async <R extends Record<string, unknown>>(sql: string, values: unknown[] = []) =>
  (await database.query<R>(sql, values)).rows

async function carryOut(world: World, { command, diesAt }: Step): Promise<void> {
  const by = dying(diesAt)
  switch (command.do) {
    case 'start': {
      const last = world.sent.at(-1)
      const start = command.again && last ? last : startCommand(catalog, command)
      if (start !== last) world.sent.push(start)
      await createStarter({ database: by, logger: quiet })(start, { request_id: null })
      return
    }
    case 'dispatch':
      return dispatchQueue({ database: by, logger: quiet, onCommitted() {} })
    case 'sweep':
      await createSweep({ database: by, logger: quiet })()
      return
    case 'heartbeat':
      await database.query(
        'UPDATE instances SET last_heartbeat_at = now() WHERE id IN (SELECT id FROM instances LIMIT 1)',
      )
      return
    case 'enrol':
      await addInstance(database, command.capacity)
      return
    case 'lose': {
      const instance = pick(await rowsOf<{ id: string }>('SELECT id FROM instances ORDER BY id'), command.which)
      if (instance) await loseInstance(database, instance.id)
      return
    }
    case 'drainInstance': {
      const instance = pick(await rowsOf<{ id: string }>('SELECT id FROM instances ORDER BY id'), command.which)
      if (instance) await database.query('UPDATE instances SET draining = NOT draining WHERE id = $1', [instance.id])
      return
    }
    case 'cancel pending': {
      const request = pick(await rowsOf<{ id: string }>('SELECT id FROM pending_requests ORDER BY id'), command.which)
      if (!request) return
      await cancelPending(by, { pending_request_id: request.id, caller: ADMIN }, received())
      world.cancelled.add(request.id)
      return
    }
    case 'update': {
      const request = pick(await rowsOf<{ id: string }>('SELECT id FROM pending_requests ORDER BY id'), command.which)
      if (!request) return
      await updatePending(by, { pending_request_id: request.id, priority: command.priority, caller: ADMIN }, received())
      return
    }
    case 'cancel': {
      const deployment = pick(await rowsOf<{ id: string }>('SELECT id FROM deployments ORDER BY id'), command.which)
      if (!deployment) return
      await cancelDeployment(by, { deployment_id: deployment.id, caller: ADMIN }, received())
      world.cancelled.add(deployment.id)
      return
    }
    case 'finish':
    case 'late finish': {
      const live = command.do === 'finish' ? 'ended_at IS NULL' : 'ended_at IS NOT NULL'
      const lease = pick(
        await rowsOf<{ deployment_id: string; epoch: number }>(
          `SELECT deployment_id, epoch FROM leases WHERE ${live} ORDER BY epoch`,
        ),
        command.which,
      )
      if (!lease) return
      const outcome = command.which % 2 === 0 ? 'success' : 'failed'
      await finishDeployment(by, { ...lease, outcome, error_message: null })
      return
    }
    case 'freeze':
      if (command.on) {
        await database.query(
          `INSERT INTO freezes (id, name, start_time, end_time, tenant_id)
           VALUES ($1, $1::uuid::text, now() - interval '1 h', now() + interval '1 h', $2)`,
          [uuidv7(), catalog.tenant_id],
        )
      } else await database.query('DELETE FROM freezes')
  }
}

/** Refusals and crashes are expected. Any other error fails the test. */
async function attempt(world: World, step: Step): Promise<void> {
  try {
    await carryOut(world, step)
  } catch (error) {
    const { name, code } = error as { name: string; code?: string }
    if (name !== 'Crash' && code !== 'CONFLICT' && code !== 'NOT_FOUND' && code !== 'DEPLOYMENT_FROZEN') throw error
  }
}

/** Queries that must never return a row. */
const NEVER: Record<string, string> = {
  'I14: more live leases than capacity': `SELECT i.id FROM instances i
     WHERE i.capacity < (SELECT count(*) FROM leases l WHERE l.instance_id = i.id AND l.ended_at IS NULL)`,
  'I15: a slot leased twice at a time': `SELECT a.epoch FROM leases a JOIN leases b
     ON a.instance_id = b.instance_id AND a.slot = b.slot AND a.epoch < b.epoch AND (a.ended_at IS NULL OR a.ended_at > b.acquired_at)`,
  'I15: an epoch that did not rise': `SELECT a.epoch FROM leases a JOIN leases b ON a.deployment_id = b.deployment_id
     AND a.epoch < b.epoch AND (a.ended_at IS NULL OR a.ended_at > b.acquired_at)`,
  'a live lease of a deployment that has ended': `SELECT l.epoch FROM leases l JOIN deployments d ON d.id = l.deployment_id
     WHERE l.ended_at IS NULL AND d.completed_at IS NOT NULL`,
  'I16: an ended lease without reason': 'SELECT epoch FROM leases WHERE ended_at IS NOT NULL AND end_reason IS NULL',
  'a deployment that runs without having had a lease': `SELECT d.id FROM deployments d WHERE NOT EXISTS (
     SELECT FROM leases l WHERE l.deployment_id = d.id)`,
  'I3: a state that is not the last of the history, or more than one final one': `SELECT d.id FROM deployments d, LATERAL (
     SELECT count(*) FILTER (WHERE to_state IN ('success', 'failed', 'cancelled', 'rolled_back')) AS finals,
            (array_agg(to_state ORDER BY number DESC))[1] AS last,
            bool_and(number = 0 OR from_state = previous) AS connected
       FROM (SELECT *, lag(to_state) OVER (ORDER BY number) AS previous FROM deployment_transitions t
              WHERE t.deployment_id = d.id) t) h
     WHERE h.last <> d.state OR NOT h.connected OR h.finals <> (d.completed_at IS NOT NULL)::int`,
  'I4: a dispatched request without a deployment of its own': `SELECT p.id FROM pending_requests p
     WHERE (p.status = 'dispatched') <> EXISTS (SELECT FROM deployments d WHERE d.id = p.deployment_id)`,
  'a request that two deployments came from': `SELECT deployment_id FROM pending_requests
     WHERE deployment_id IS NOT NULL GROUP BY 1 HAVING count(*) > 1`,
  'a deployment of the request of another command': `SELECT d.id FROM deployments d JOIN pending_requests p ON p.deployment_id = d.id
     WHERE p.id <> d.id`,
  'a command that both started and waits': `SELECT id FROM deployments JOIN pending_requests p USING (id)
     WHERE p.status <> 'dispatched'`,
  'a start without its message': `SELECT l.epoch FROM leases l WHERE NOT EXISTS (SELECT FROM outbox o
     WHERE o.type = 'lease.changed' AND o.body ->> 'instance_id' = l.instance_id::text)`,
}

async function violations(): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(NEVER).map(async ([sentence, sql]) => ((await rowsOf(sql)).length > 0 ? [sentence] : [])),
  )
  return found.flat()
}

/** Requests and deployments that are not cancelled although their cancel was answered. */
async function revived(world: World): Promise<string[]> {
  const rows = await rowsOf<{ id: string }>(
    `SELECT id FROM deployments WHERE id = ANY($1::uuid[]) AND state <> 'cancelled'
     UNION ALL SELECT id FROM pending_requests p WHERE id = ANY($1::uuid[]) AND status <> 'cancelled'
       -- The request of a cancelled deployment stays dispatched.
       AND NOT EXISTS (SELECT FROM deployments d WHERE d.id = p.id)`,
    [[...world.cancelled]],
  )
  return rows.map(({ id }) => id)
}

/**
 * Removes freezes and lost instances. Then all requests must start in the order of the queue, and all deployments must
 * end.
 */
async function settle(): Promise<void> {
  await database.query('DELETE FROM freezes')
  await createSweep({ database: asDispatcher, logger: quiet })()
  await database.query(`UPDATE instances SET last_heartbeat_at = now() - interval '31 seconds', draining = false`)
  await createSweep({ database: asDispatcher, logger: quiet })()
  await addInstance(database, 2)
  for (;;) {
    const expected = (
      await rowsOf<{ id: string }>(`SELECT id FROM pending_requests WHERE status = 'pending' ORDER BY rank, id`)
    ).map(({ id }) => id)
    const orphans = await rowsOf(`SELECT FROM deployments WHERE completed_at IS NULL AND id NOT IN
                                    (SELECT deployment_id FROM leases WHERE ended_at IS NULL)`)
    // Two dispatchers work at the same time. One of them may die.
    await Promise.all([
      attempt({ sent: [], cancelled: new Set() }, { command: { do: 'dispatch' }, diesAt: 9 }),
      dispatchNow(),
    ])
    await dispatchNow()
    const live = await rowsOf<{ deployment_id: string; epoch: number; request: string | null }>(
      `SELECT l.deployment_id, l.epoch, p.id AS request FROM leases l
         LEFT JOIN pending_requests p USING (deployment_id) WHERE l.ended_at IS NULL ORDER BY l.epoch`,
    )
    if (live.length === 0) {
      expect([expected, orphans]).toEqual([[], []])
      return
    }
    // I4: while a request is pending, no slot is free. I24: orphans start first, then the queue in order.
    expect(live.length).toBe(Math.min(2, orphans.length + expected.length))
    const fresh = live.slice(Math.min(2, orphans.length)).map(({ request }) => request)
    expect(fresh).toEqual(expected.slice(0, fresh.length))
    for (const { deployment_id, epoch } of live) {
      await finishDeployment(asDispatcher, { deployment_id, epoch, outcome: 'success', error_message: null })
    }
  }
}

const dispatchNow = () => dispatchQueue({ database: asDispatcher, logger: quiet, onCommitted() {} })

test('simultaneous commands that are cut off at random statements violate no invariant, and all deployments end once', async () => {
  await applySettings(asDispatcher, queue)
  await fc.assert(
    fc.asyncProperty(rounds, async (rounds) => {
      await clear(database)
      const world: World = { sent: [], cancelled: new Set() }
      for (const round of rounds) {
        await Promise.all(round.map((each) => attempt(world, each)))
        expect(await violations()).toEqual([])
        expect(await revived(world)).toEqual([])
      }
      await settle()
      expect(await violations()).toEqual([])
      expect(await revived(world)).toEqual([])
      const open = await rowsOf(
        `SELECT id FROM deployments WHERE completed_at IS NULL
         UNION ALL SELECT id FROM pending_requests WHERE status IN ('pending', 'processing')`,
      )
      expect(open).toEqual([])
      // Each start created one deployment or one request, or nothing.
      const came = await rowsOf<{ id: string }>(
        `SELECT id FROM deployments d WHERE NOT EXISTS (SELECT FROM pending_requests p WHERE p.deployment_id = d.id)
         UNION ALL SELECT id FROM pending_requests`,
      )
      const sent = new Set(world.sent.map(({ command_id }) => command_id))
      expect(came.filter(({ id }) => !sent.has(id))).toEqual([])
      expect(new Set(came.map(({ id }) => id)).size).toBe(came.length)
    }),
    { numRuns: roundsOf(10, 80), endOnFailure: true },
  )
})
