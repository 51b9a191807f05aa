import { beforeEach, describe, expect, test } from '@jest/globals'
import { readSubjects } from '@slipway/database'
import { listItems } from '@slipway/database/read-models'
import type { EnvironmentRules } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { addUser as addUserTo, testLogger } from '@slipway/testing'
import { admissionOf, runRound } from '../src/dispatch/round.ts'
import { approvePending, rejectPending } from '../src/pending/approve.ts'
import { measurePending } from '../src/pending/metrics.ts'
import { reviewRequestsOf, reviewRequestsWith } from '../src/pending/places.ts'
import { testDatabase } from './database.ts'
import {
  ADMIN,
  addInstance,
  type CommandOptions,
  deployment,
  keys,
  outbox,
  startCommand,
  startDeployment,
} from './fixtures.ts'
import { requestsOf } from './requests.ts'

const db = await testDatabase()
const { database, asDispatcher, catalog } = db
const { dispatchAll, pending } = requestsOf(db)

const production = uuidv7()
const staging = uuidv7()
const [inStaging, inProduction] = [uuidv7(), uuidv7()]
for (const [id, name] of [
  [production, 'production'],
  [staging, 'staging'],
]) {
  await database.query('INSERT INTO environments (id, name, updated_at) VALUES ($1, $2, now())', [id, name])
}
for (const [id, environment_id] of [
  [inStaging, staging],
  [inProduction, production],
]) {
  await database.query(
    `INSERT INTO targets (id, name, connection, environment_id) VALUES ($1, $1::uuid::text, '{"type":"local"}', $2)`,
    [id, environment_id],
  )
}

const setRules = (rules: EnvironmentRules | null, id = production) =>
  database.query('UPDATE environments SET rules = $1 WHERE id = $2', [JSON.stringify(rules ?? {}), id])
beforeEach(() => setRules(null))

/** Users by name, each with a role of its own name and the permissions. */
async function addUser(username: string, permissions: string[]): Promise<typeof ADMIN & { role: string }> {
  const { user_id, role_id: role } = await addUserTo(database, { username, permissions })
  return { ...ADMIN, user_id, username, role }
}
const anna = await addUser('anna', ['deployments:approve'])
const ben = await addUser('ben', ['deployments:approve', 'deployments:create'])
const mia = await addUser('mia', ['deployments:create'])
const caller = ({ role: _, ...user }: typeof anna) => user

async function create(options: CommandOptions = {}, target_ids = [inProduction]) {
  const command = startCommand({ ...catalog, target_ids }, { caller: caller(mia), ...options })
  const answer = await startDeployment(database, command, { request_id: null })
  return { id: command.command_id, outcome: answer?.outcome }
}

const received = () => ({ command_id: uuidv7(), deadline: undefined, request_id: null, api_key: undefined })
const approve = (id: string, by: typeof anna, more: object = {}, call = received()) =>
  approvePending(asDispatcher, { pending_request_id: id, caller: caller(by), ...more }, call)
const reject = (id: string, by: typeof anna, comment?: string) =>
  rejectPending(
    asDispatcher,
    { pending_request_id: id, caller: caller(by), ...(comment === undefined ? {} : { comment }) },
    received(),
  )

/** What a user of the API sees of a request. */
async function shown(id: string, by = anna): Promise<Record<string, unknown>> {
  const [subject = null] = await readSubjects(database, [{ user_id: by.user_id, key_id: null }])
  const approver = { user_id: by.user_id, subject }
  const viewer = { tenant_id: null, may_override_freezes: true, approver }
  const items = await database.transaction((tx) => listItems({ db: tx, keys, viewer }, 'pending', [id]))
  return (items.get(id) ?? {}) as Record<string, unknown>
}

const approvals = (more: Partial<EnvironmentRules['approvals']> = {}) => ({
  approvals: { count: 1, role: null, allow_author: false, expires_in_seconds: 3_600, ...more },
})

describe('the author of a waiting request', () => {
  /** A request that waits for an approval, then gets it after `change`. */
  async function approvedAfter(change: () => Promise<unknown>, options: CommandOptions = {}) {
    await setRules(approvals())
    await addInstance(database, 5)
    const { id } = await create(options)
    await change()
    await approve(id, anna)
    await dispatchAll()
    const { rows } = await database.query<{ status: string; error_message: string | null }>(
      'SELECT status, error_message FROM pending_requests WHERE id = $1',
      [id],
    )
    return rows[0]
  }

  test('may have lost the right when it starts: the request fails and says why', async () => {
    const restored = async () => {
      await database.query(`UPDATE users SET status = 'active' WHERE id = $1`, [mia.user_id])
      await database.query('DELETE FROM role_bindings WHERE user_id = $1', [mia.user_id])
      await database.query('INSERT INTO user_roles VALUES ($1, $2) ON CONFLICT DO NOTHING', [mia.user_id, mia.role])
    }
    expect(await approvedAfter(async () => {})).toMatchObject({ status: 'dispatched' })
    const suspended = await approvedAfter(() =>
      database.query(`UPDATE users SET status = 'suspended' WHERE id = $1`, [mia.user_id]),
    )
    expect(suspended).toMatchObject({ status: 'failed', error_message: expect.stringContaining('is not active') })
    await restored()
    const bind = async (environment: string) => {
      await database.query('DELETE FROM user_roles WHERE user_id = $1', [mia.user_id])
      await database.query(
        'INSERT INTO role_bindings (id, user_id, role_id, environment_ids) VALUES ($1, $2, $3, $4)',
        [uuidv7(), mia.user_id, mia.role, [environment]],
      )
    }
    expect(await approvedAfter(() => bind(uuidv7()))).toMatchObject({
      status: 'failed',
      error_message: expect.stringContaining('may not deploy this any more'),
    })
    await restored()
    expect(await approvedAfter(() => bind(production))).toMatchObject({ status: 'dispatched' })
    await restored()
  })

  test('may have lost the API key of the request, or part of its scope', async () => {
    const key_id = uuidv7()
    await database.query(
      `INSERT INTO api_keys (id, user_id, name, key_prefix, key_hash) VALUES ($1, $2, 'k', '', $1::uuid::text)`,
      [key_id, mia.user_id],
    )
    const options = { caller: { ...caller(mia), key_id } }
    expect(await approvedAfter(async () => {}, options)).toMatchObject({ status: 'dispatched' })
    const narrow = () => database.query('UPDATE api_keys SET environment_ids = $2 WHERE id = $1', [key_id, [uuidv7()]])
    expect(await approvedAfter(narrow, options)).toMatchObject({
      status: 'failed',
      error_message: expect.stringContaining('The API key'),
    })
    await database.query('UPDATE api_keys SET environment_ids = NULL WHERE id = $1', [key_id])
    const revoke = () => database.query('DELETE FROM api_keys WHERE id = $1', [key_id])
    expect(await approvedAfter(revoke, options)).toMatchObject({ status: 'failed' })
  })

  test('may approve in a scope only', async () => {
    const scoped = { permissions: ['deployments:approve'], scope: { environment_ids: [uuidv7()], solution_ids: null } }
    const { user_id, role_id: role } = await addUserTo(database, { username: 'sam', ...scoped })
    const sam = { ...ADMIN, user_id, username: 'sam', role }
    await setRules(approvals())
    await addInstance(database, 5)
    const { id } = await create()
    await expect(approve(id, sam)).rejects.toMatchObject({ code: 'INSUFFICIENT_PERMISSIONS' })
    expect(await shown(id, sam)).toMatchObject({ can_approve: false })
    await database.query('UPDATE role_bindings SET environment_ids = $2 WHERE user_id = $1', [user_id, [production]])
    expect(await shown(id, sam)).toMatchObject({ can_approve: true })
    await approve(id, sam)
    // An approval outside of the scope of its user does not count any more.
    await database.query('UPDATE role_bindings SET environment_ids = $2 WHERE user_id = $1', [user_id, [uuidv7()]])
    expect(await shown(id, anna)).toMatchObject({ waiting_for: 'approval' })
  })
})

describe('approvals', () => {
  test('a request that only misses them shows no other blocker while slots are free', async () => {
    await setRules(approvals())
    await addInstance(database, 5)
    const { id } = await create()
    const { blockers } = await shown(id)
    expect(blockers).toEqual([expect.objectContaining({ code: 'approval' })])
  })

  test('the last one starts the request; the deployment says who gave them', async () => {
    await setRules(approvals({ count: 2 }))
    await addInstance(database, 5)
    const { id, outcome } = await create()
    expect(outcome).toBe('queued')
    expect(await outbox(database, id)).toContain('pending.approval_needed')
    expect(await shown(id)).toMatchObject({
      waiting_for: 'approval',
      can_approve: true,
      earliest_start: null,
      approvals: { rules: [{ environment_name: 'production', count: 2, missing: 2 }], given: [] },
    })
    expect(await shown(id)).not.toHaveProperty('position')
    await approve(id, anna, { comment: 'tested', plan_hash: 'p1.test' })
    // A second approval of the same user changes nothing.
    await approve(id, anna)
    await dispatchAll()
    expect((await pending(id)).status).toBe('pending')
    expect(await shown(id)).toMatchObject({ can_approve: false, approvals: { rules: [{ missing: 1 }] } })
    await approve(id, ben)
    expect(await outbox(database, id)).toContain('pending.approved')
    await dispatchAll()
    expect((await pending(id)).status).toBe('dispatched')
    const { rows } = await database.query<{ approved_by: object[] }>(
      'SELECT approved_by FROM deployments WHERE id = $1',
      [id],
    )
    expect(rows[0]?.approved_by).toMatchObject([
      { user_id: anna.user_id, user_name: 'anna', comment: 'tested' },
      { user_id: ben.user_id, user_name: 'ben', comment: null },
    ])
  })

  test('a waiting request holds nothing: a later one starts on its targets and in its slot', async () => {
    await setRules(approvals())
    await database.query(`UPDATE targets SET concurrency = 'queue' WHERE id = $1`, [inProduction])
    try {
      const waiting = await create({ priority: 50 })
      await addInstance(database, 1)
      await setRules(null)
      // The rule counts as it is when the request would start. The dispatcher was not told that it is gone.
      expect((await create()).outcome).toBe('started')
      expect((await pending(waiting.id)).status).toBe('pending')
    } finally {
      await database.query('UPDATE targets SET concurrency = NULL')
    }
  })

  test.each<[string, () => Promise<unknown>, string]>([
    ['without the permission', async () => approve((await create()).id, mia), 'INSUFFICIENT_PERMISSIONS'],
    ['by its author', async () => approve((await create({ caller: caller(ben) })).id, ben), 'FORBIDDEN'],
    ['of another plan', async () => approve((await create()).id, anna, { plan_hash: 'p1.other' }), 'CONFLICT'],
    ['of an unknown request', async () => approve(uuidv7(), anna), 'NOT_FOUND'],
    [
      'of a request that has ended',
      async () => {
        const { id } = await create()
        await reject(id, anna)
        return approve(id, ben)
      },
      'CONFLICT',
    ],
    [
      'whose time is over, before a round has ended it',
      async () => {
        const { id } = await create()
        await database.query(`UPDATE pending_requests SET queued_at = now() - interval '2 hours' WHERE id = $1`, [id])
        return approve(id, anna)
      },
      'CONFLICT',
    ],
    [
      'with all that it needs',
      async () => {
        const { id } = await create()
        await approve(id, anna)
        return approve(id, ben)
      },
      'CONFLICT',
    ],
    ['rejected by its author', async () => reject((await create({ caller: caller(ben) })).id, ben), 'FORBIDDEN'],
  ])('is refused %s', async (_, act, code) => {
    await setRules(approvals())
    await expect(act()).rejects.toMatchObject({ code })
  })

  test('a command that comes again is answered as before', async () => {
    await setRules(approvals())
    await addInstance(database, 1)
    const { id } = await create()
    const call = received()
    const answer = await approve(id, anna, {}, call)
    await dispatchAll()
    expect((await pending(id)).status).toBe('dispatched')
    expect(await approve(id, anna, {}, call)).toEqual(answer)
  })

  test('a parked request gives its successor no place in the queue', async () => {
    await setRules(approvals())
    await database.query(`UPDATE targets SET concurrency = 'supersede' WHERE id = $1`, [inProduction])
    try {
      const older = await create()
      await database.query(`UPDATE pending_requests SET queued_at = now() - interval '30 minutes' WHERE id = $1`, [
        older.id,
      ])
      const newer = await create()
      expect((await pending(older.id)).status).toBe('cancelled')
      const { rows } = await database.query<{ minutes: number }>(
        'SELECT extract(epoch FROM now() - queued_at)::int / 60 AS minutes FROM pending_requests WHERE id = $1',
        [newer.id],
      )
      expect(rows).toEqual([{ minutes: 0 }])
    } finally {
      await database.query('UPDATE targets SET concurrency = NULL')
    }
  })

  test('a role that no rule asks for is no right', async () => {
    await setRules(approvals({ role: ben.role }))
    const { id } = await create()
    await expect(approve(id, anna)).rejects.toMatchObject({ code: 'INSUFFICIENT_PERMISSIONS' })
    expect(await shown(id, anna)).toMatchObject({ can_approve: false, approvals: { rules: [{ role: 'ben' }] } })
    expect(await shown(id, ben)).toMatchObject({ can_approve: true })
  })

  test('count only while their user may approve', async () => {
    await setRules(approvals())
    const { id } = await create()
    await approve(id, anna)
    await database.query(`UPDATE users SET status = 'suspended' WHERE id = $1`, [anna.user_id])
    try {
      await addInstance(database, 1)
      await dispatchAll()
      expect((await pending(id)).status).toBe('pending')
      expect(await shown(id)).toMatchObject({ waiting_for: 'approval' })
    } finally {
      await database.query(`UPDATE users SET status = 'active'`)
    }
    await database.query('UPDATE pending_requests SET review_at = now()')
    await dispatchAll()
    expect((await pending(id)).status).toBe('dispatched')
  })

  test('a rejection ends the request, also with all approvals', async () => {
    await setRules(approvals())
    const { id } = await create()
    await approve(id, anna)
    await reject(id, ben, 'not today')
    expect(await shown(id)).toMatchObject({
      status: 'cancelled',
      cancelled_because: 'rejected',
      error_message: 'Rejected by ben: not today',
    })
    expect(await outbox(database, id)).toContain('pending.rejected')
  })

  test('a request without them ends when the time is over', async () => {
    await setRules(approvals({ expires_in_seconds: 60 }))
    const { id } = await create()
    await database.query(
      `UPDATE pending_requests SET queued_at = now() - interval '61 seconds', review_at = now() - interval '1 second'`,
    )
    await dispatchAll()
    expect(await shown(id)).toMatchObject({ status: 'cancelled', cancelled_because: 'approval_expired' })
  })

  test('an override passes them', async () => {
    await setRules(approvals())
    await addInstance(database, 1)
    const { id, outcome } = await create({ caller: ADMIN, rules_override: { reason: 'outage' } })
    expect(outcome).toBe('started')
    const { rows } = await database.query<{ details: object }>(
      'SELECT details FROM audit_records WHERE resource_id = $1',
      [id],
    )
    expect(rows[0]?.details).toMatchObject({
      rules_override: { reason: 'outage', environments: [{ environment_name: 'production', rules: ['approvals'] }] },
    })
  })
})

describe('a change', () => {
  test('of rules counts for requests that wait, once the dispatcher is told', async () => {
    await setRules(approvals())
    await addInstance(database, 1)
    const { id } = await create()
    expect(await measurePending(database)).toMatchObject({ slipway_pending_requests_held: { approval: 1 } })
    await setRules(null)
    await dispatchAll()
    expect((await pending(id)).status).toBe('pending')
    await reviewRequestsOf(asDispatcher, production)
    await dispatchAll()
    expect((await pending(id)).status).toBe('dispatched')
  })

  test('of the environment of a target, too', async () => {
    await setRules(approvals())
    await addInstance(database, 1)
    const { id } = await create()
    const move = (to: string) =>
      database.query('UPDATE targets SET environment_id = $1 WHERE id = $2', [to, inProduction])
    await move(staging)
    try {
      await reviewRequestsWith(asDispatcher, inProduction)
      await dispatchAll()
      expect((await pending(id)).status).toBe('dispatched')
    } finally {
      await move(production)
    }
  })

  test('that lets it wait for something else is told', async () => {
    await setRules(approvals())
    const { id } = await create()
    await approve(id, anna)
    await database.query('DELETE FROM outbox')
    await dispatchAll()
    expect(await shown(id)).toMatchObject({ waiting_for: 'no_compatible_instance', position: 1 })
    expect(await outbox(database, id)).toEqual(['pending.updated'])
  })
})

describe('start times', () => {
  const inFuture = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString()

  test('a request waits until its start time, and then starts once', async () => {
    await addInstance(database, 1)
    const { id, outcome } = await create({ start_at: inFuture(3_600) })
    expect(outcome).toBe('queued')
    expect(await shown(id)).toMatchObject({ waiting_for: 'start_time' })
    await dispatchAll()
    expect((await pending(id)).status).toBe('pending')
    await database.query(`UPDATE pending_requests SET start_at = now(), review_at = now()`)
    await Promise.all([dispatchAll(), dispatchAll()])
    expect((await pending(id)).status).toBe('dispatched')
    expect((await deployment(database, id)).state).toBe('running')
  })

  test('a request whose time is over already is refused', async () => {
    await expect(create({ expires_at: inFuture(-1) })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
  })

  test('one round starts no more of them than it can write', async () => {
    await addInstance(database, 5)
    const ids = []
    for (let count = 0; count < 3; count += 1) ids.push((await create({ start_at: inFuture(3_600) })).id)
    await database.query('UPDATE pending_requests SET start_at = now(), review_at = now(), step_count = 600')
    const { changed } = await runRound(admissionOf({ database: asDispatcher, logger: testLogger }), [])
    expect(changed).toBe(1)
    await dispatchAll()
    for (const id of ids) expect((await pending(id)).status).toBe('dispatched')
  })

  test('a request that has not started in time ends', async () => {
    const { id } = await create({ expires_at: inFuture(3_600) })
    expect(await shown(id)).toMatchObject({ waiting_for: 'no_compatible_instance', position: 1 })
    await database.query(`UPDATE pending_requests SET expires_at = now(), review_at = now()`)
    await dispatchAll()
    expect(await shown(id)).toMatchObject({ status: 'cancelled', cancelled_because: 'expired' })
  })
})

describe('windows', () => {
  const from = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString()

  test('a request waits for the next one', async () => {
    await addInstance(database, 1)
    await setRules({ windows: [{ start_time: from(3_600), end_time: from(7_200) }] })
    const { id, outcome } = await create()
    expect(outcome).toBe('queued')
    expect(await shown(id)).toMatchObject({ waiting_for: 'window' })
    await setRules({ windows: [{ start_time: from(-3_600), end_time: from(7_200) }] })
    await database.query('UPDATE pending_requests SET review_at = now()')
    await dispatchAll()
    expect((await pending(id)).status).toBe('dispatched')
  })

  test('a create after the last one is refused', async () => {
    await setRules({ windows: [{ start_time: from(-7_200), end_time: from(-3_600) }] })
    await expect(create()).rejects.toMatchObject({ code: 'CONFLICT' })
  })
})

describe('promotion', () => {
  test('a version needs to be in force before', async () => {
    await addInstance(database, 5)
    await setRules({ promotion: { from_environment_id: staging, hours: 0 } })
    await expect(create()).rejects.toMatchObject({ code: 'NOT_PROMOTED', details: { versions: [], ready_at: null } })
    const before = await create({}, [inStaging])
    expect(before.outcome).toBe('started')
    await database.query(
      `INSERT INTO releases (deployment_id, target_id, source_type, source_id, source_name, source_version, state, begun_at, ended_at)
       VALUES ($1, $2, 'action', $3, 'release', '1.0.0', 'applied', now(), now())`,
      [before.id, inStaging, catalog.action_id],
    )
    await database.query(
      'INSERT INTO release_heads (target_id, source_id, current_deployment_id, current_since) VALUES ($1, $2, $3, now())',
      [inStaging, catalog.action_id, before.id],
    )
    expect((await create()).outcome).toBe('started')
    await setRules({ promotion: { from_environment_id: staging, hours: 1 } })
    await expect(create()).rejects.toMatchObject({
      code: 'NOT_PROMOTED',
      details: { from_environment_name: 'staging', versions: [{ version: '1.0.0', targets: 1 }], drifted_targets: 0 },
    })
  })
})
