import { beforeEach, expect, test } from '@jest/globals'
import type { EnvironmentRules } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import fc from 'fast-check'
import { approvePending } from '../src/pending/approve.ts'
import { testDatabase } from './database.ts'
import { ADMIN, addInstance, startCommand, startDeployment } from './fixtures.ts'
import { requestsOf } from './requests.ts'

const db = await testDatabase()
const { database, asDispatcher, catalog } = db
const { dispatchAll, pending } = requestsOf(db)

/** Versions go from the first to the last of them. */
const ENVIRONMENTS = ['dev', 'staging', 'production'] as const
type Environment = (typeof ENVIRONMENTS)[number]
const VERSIONS = ['1.0.0', '1.1.0'] as const
const ids = new Map<Environment, { environment: string; target: string }>()

for (const name of ENVIRONMENTS) {
  const [environment, target] = [uuidv7(), uuidv7()]
  ids.set(name, { environment, target })
  await database.query('INSERT INTO environments (id, name, updated_at) VALUES ($1, $2, now())', [environment, name])
  await database.query(
    `INSERT INTO targets (id, name, connection, environment_id) VALUES ($1, $2, '{"type":"local"}', $3)`,
    [target, name, environment],
  )
}
await database.query(
  `INSERT INTO source_versions (source_id, version, definition) VALUES ($1, '1.1.0', '{"type":"script","script":"true"}')`,
  [catalog.action_id],
)
const users = new Map<string, typeof ADMIN>()
const role = uuidv7()
await database.query(`INSERT INTO roles (id, name, permissions) VALUES ($1, 'approvers', '{deployments:approve}')`, [
  role,
])
for (const username of ['anna', 'ben']) {
  const user_id = uuidv7()
  users.set(username, { ...ADMIN, user_id, username })
  await database.query(
    `INSERT INTO users (id, email, username, password_hash) VALUES ($1, $2 || '@example.com', $2, 'x')`,
    [user_id, username],
  )
  await database.query('INSERT INTO user_roles (user_id, role_id) VALUES ($1, $2)', [user_id, role])
}

beforeEach(async () => {
  await database.query('DELETE FROM release_checks; DELETE FROM release_heads; DELETE FROM releases')
})

const of = (name: Environment) => {
  const found = ids.get(name)
  if (found === undefined) throw new Error(`no environment ${name}`)
  return found
}

const environment = fc.constantFrom(...ENVIRONMENTS)
const later = fc.constantFrom('staging' as const, 'production' as const)
const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('deploy' as const),
        to: environment,
        version: fc.constantFrom(...VERSIONS),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('approve' as const),
        by: fc.constantFrom('anna', 'ben'),
        which: fc.nat({ max: 3 }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('hours' as const), count: fc.integer({ min: 1, max: 3 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('drift' as const), on: environment, begins: fc.boolean() }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('rules' as const),
        to: later,
        approvals: fc.constantFrom(0, 1, 2),
        hours: fc.constantFrom(null, 0, 2),
      }),
    },
  ),
  { minLength: 5, maxLength: 25 },
)
type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never

/** What stands in an environment, by the hours of the model. */
interface Stand {
  version: string
  since: number
  drifted: boolean
}
interface Waiting {
  id: string
  to: Environment
  version: string
  approvals: Set<string>
  since: number
}
interface ModelRules {
  approvals: number
  hours: number | null
}

/** The rules once more, in plain words, with an hour for each hour. */
class Model {
  hour = 0
  readonly stands = new Map<Environment, Stand>()
  readonly before = new Map<Environment, Set<string>>()
  readonly rules = new Map<Environment, ModelRules>()
  waiting: Waiting[] = []

  /** What the promotion rule of an environment says of a version. */
  promotion(to: Environment, version: string): 'yes' | 'later' | 'never' {
    const hours = this.rules.get(to)?.hours ?? null
    if (hours === null || this.before.get(to)?.has(version)) return 'yes'
    const stand = this.stands.get(to === 'production' ? 'staging' : 'dev')
    if (stand === undefined || stand.version !== version || stand.drifted) return 'never'
    return this.hour - stand.since >= hours ? 'yes' : 'later'
  }

  start(to: Environment, version: string): void {
    this.before.set(to, (this.before.get(to) ?? new Set()).add(version))
    this.stands.set(to, { version, since: this.hour, drifted: false })
  }

  /** What becomes of a request that waits. */
  outcome({ to, version, approvals, since }: Waiting): 'pending' | 'dispatched' | 'failed' | 'cancelled' {
    const needed = this.rules.get(to)?.approvals ?? 0
    if (approvals.size < needed) return this.hour - since >= 24 ? 'cancelled' : 'pending'
    const promotion = this.promotion(to, version)
    return promotion === 'yes' ? 'dispatched' : promotion === 'later' ? 'pending' : 'failed'
  }
}

/** Ends what runs, as if every command had succeeded. */
async function finish(to: Environment, version: string, id: string): Promise<void> {
  const { target } = of(to)
  await database.query(`UPDATE leases SET ended_at = now(), end_reason = 'finished' WHERE deployment_id = $1`, [id])
  await database.query(`UPDATE deployments SET state = 'success', completed_at = now() WHERE id = $1`, [id])
  await database.query(
    `INSERT INTO releases (deployment_id, target_id, source_type, source_id, source_name, source_version, state, begun_at, ended_at)
     VALUES ($1, $2, 'action', $3, 'release', $4, 'applied', now(), now())`,
    [id, target, catalog.action_id, version],
  )
  await database.query(
    `INSERT INTO release_heads (target_id, source_id, current_deployment_id, current_since) VALUES ($1, $2, $3, now())
     ON CONFLICT (target_id, source_id) DO UPDATE SET current_deployment_id = EXCLUDED.current_deployment_id, current_since = now()`,
    [target, catalog.action_id, id],
  )
  await database.query('DELETE FROM release_checks WHERE target_id = $1', [target])
}

async function settle(model: Model): Promise<void> {
  // Each start may change what the next one finds, so one request at a time is judged.
  for (const waiting of [...model.waiting]) {
    await database.query('UPDATE pending_requests SET review_at = now() WHERE id = $1', [waiting.id])
    await dispatchAll()
    const expected = model.outcome(waiting)
    expect((await pending(waiting.id)).status).toBe(expected)
    if (expected === 'pending') continue
    model.waiting = model.waiting.filter((one) => one !== waiting)
    if (expected !== 'dispatched') continue
    model.start(waiting.to, waiting.version)
    await finish(waiting.to, waiting.version, waiting.id)
  }
}

async function deploy(model: Model, to: Environment, version: string): Promise<void> {
  const command = startCommand({ ...catalog, target_ids: [of(to).target] })
  command.plan.source.version = version
  const answer = await startDeployment(database, command, { request_id: null }).catch((error: unknown) => error)
  const id = command.command_id
  if (model.promotion(to, version) !== 'yes') {
    expect(answer).toMatchObject({ code: 'NOT_PROMOTED' })
    return
  }
  const isQueued = (model.rules.get(to)?.approvals ?? 0) > 0
  expect(answer).toMatchObject({ outcome: isQueued ? 'queued' : 'started' })
  if (isQueued) model.waiting.push({ id, to, version, approvals: new Set(), since: model.hour })
  else {
    model.start(to, version)
    await finish(to, version, id)
  }
}

async function approve(model: Model, by: string, which: number): Promise<void> {
  const waiting = model.waiting[which]
  const caller = users.get(by)
  if (waiting === undefined || caller === undefined) return
  const missing = (model.rules.get(waiting.to)?.approvals ?? 0) - waiting.approvals.size
  const received = { command_id: uuidv7(), deadline: undefined, request_id: null, api_key: undefined }
  const answer = await approvePending(asDispatcher, { pending_request_id: waiting.id, caller }, received).catch(
    (error: unknown) => error,
  )
  if (missing <= 0 && !waiting.approvals.has(by)) expect(answer).toMatchObject({ code: 'CONFLICT' })
  else waiting.approvals.add(by)
}

async function hours(model: Model, count: number): Promise<void> {
  model.hour += count
  const past = `- make_interval(hours => ${count})`
  await database.query(`UPDATE releases SET ended_at = ended_at ${past}, begun_at = begun_at ${past}`)
  await database.query(`UPDATE release_heads SET current_since = current_since ${past}`)
  await database.query(`UPDATE release_checks SET in_sync_since = in_sync_since ${past}`)
  await database.query(`UPDATE pending_requests SET queued_at = queued_at ${past} WHERE status = 'pending'`)
}

async function drift(model: Model, on: Environment, begins: boolean): Promise<void> {
  const stand = model.stands.get(on)
  if (stand === undefined || stand.drifted === begins) return
  stand.drifted = begins
  // A version must have been in sync for the hours that a rule asks for.
  if (!begins) stand.since = model.hour
  await database.query(
    `INSERT INTO release_checks (target_id, source_id, drifted_since, in_sync_since)
     VALUES ($1, $2, CASE WHEN $3 THEN now() END, CASE WHEN NOT $3 THEN now() END)
     ON CONFLICT (target_id, source_id) DO UPDATE SET drifted_since = EXCLUDED.drifted_since, in_sync_since = EXCLUDED.in_sync_since`,
    [of(on).target, catalog.action_id, begins],
  )
}

async function setRules(model: Model, to: Environment, { approvals, hours: needed }: ModelRules): Promise<void> {
  model.rules.set(to, { approvals, hours: needed })
  const from_environment_id = of(to === 'production' ? 'staging' : 'dev').environment
  const rules: EnvironmentRules = {
    ...(approvals === 0
      ? {}
      : { approvals: { count: approvals, role: null, allow_author: false, expires_in_seconds: 86_400 } }),
    ...(needed === null ? {} : { promotion: { from_environment_id, hours: needed } }),
  }
  await database.query('UPDATE environments SET rules = $1 WHERE id = $2', [JSON.stringify(rules), of(to).environment])
}

async function take(model: Model, step: Step): Promise<void> {
  switch (step.kind) {
    case 'deploy':
      return deploy(model, step.to, step.version)
    case 'approve':
      return approve(model, step.by, step.which)
    case 'hours':
      return hours(model, step.count)
    case 'drift':
      return drift(model, step.on, step.begins)
    case 'rules':
      return setRules(model, step.to, step)
  }
}

test('over random rules, approvals, drift and hours, requests start exactly when a naive model says so', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      await database.query(
        'DELETE FROM release_checks; DELETE FROM release_heads; DELETE FROM releases; DELETE FROM leases; DELETE FROM pending_requests; DELETE FROM instance_slots; DELETE FROM instances',
      )
      const model = new Model()
      await addInstance(database, 9)
      await setRules(model, 'staging', { approvals: 0, hours: 0 })
      await setRules(model, 'production', { approvals: 1, hours: 2 })
      for (const step of taken) {
        await take(model, step)
        await settle(model)
      }
    }),
    { numRuns: 25, endOnFailure: true },
  )
})
