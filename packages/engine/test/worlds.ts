import { type Binding, BUILT_IN_ROLES, EVERYWHERE, FreezeSet, type Subject } from '@slipway/domain'
import fc from 'fast-check'
import type {
  Approval,
  Arrival,
  Instance,
  Request,
  RequestedTarget,
  RuledEnvironment,
  Snapshot,
  StartRequest,
  TargetState,
  Terms,
} from '../src/index.ts'

/** Snapshots and requests for tests, by hand and at random. */
export const NOW = new Date('2026-03-14T09:00:00Z')

export function freezeOf(tenant_id: string | null, name = `freeze of ${tenant_id}`) {
  const times = { start_time: '2026-03-14T08:00:00Z', end_time: '2026-03-14T10:00:00Z' }
  return { id: name, name, ...times, tenant_id, environment_id: null, solution_id: null }
}

export function instance(id: string, free: number, more: Partial<Instance> = {}): Instance {
  return {
    id,
    name: id,
    tenant_id: null,
    labels: {},
    idle: null,
    slots: free,
    taken: 0,
    free: Array.from({ length: free }, (_, slot) => slot),
    ...more,
  }
}

export function snapshot(more: Partial<Snapshot> = {}): Snapshot {
  return {
    now: NOW,
    freezes: new FreezeSet([]),
    instances: [],
    tenantLimit: null,
    running: new Map(),
    targets: new Map(),
    readUpTo: Number.POSITIVE_INFINITY,
    runningChecks: new Map(),
    rules: new Map(),
    promotions: new Map(),
    ...more,
  }
}

const binding = (role: string, permissions: readonly string[]): Binding => ({
  role,
  role_id: role,
  permissions,
  ...EVERYWHERE,
})

/** A user who may approve, with further roles; null: a user who is not active. */
export const approver = (roles: readonly string[] = []): Subject => ({
  bindings: [binding('approver', ['deployments:approve']), ...roles.map((role) => binding(role, []))],
  key: null,
})

export const ADMIN: Subject = { bindings: [binding('admin', BUILT_IN_ROLES.admin.permissions)], key: null }

export const terms = (more: Partial<Terms> = {}): Terms => ({
  queued_at: NOW,
  start_at: null,
  expires_at: null,
  overrides_rules: false,
  author_id: 'author',
  author_key_id: null,
  approvals: [],
  source: { id: 'shop', type: 'solution', version: '1.1.0', variant: 'a' },
  ...more,
})

export const approval = (user_id: string, more: Partial<Approval> = {}): Approval => ({
  user_id,
  user_name: user_id,
  at: NOW,
  comment: null,
  subject: approver(),
  ...more,
})

export const environment = (id: string, rules: RuledEnvironment['rules'], tenant_id: string | null = null) => ({
  id,
  name: id,
  tenant_id,
  rules,
  role_name: null,
  from_environment_name: 'staging',
})

export const minutes = (count: number) => new Date(NOW.getTime() + count * 60_000)

export function start(id: string, more: Partial<StartRequest> = {}): StartRequest {
  const tenant_id = more.tenant_id ?? null
  return {
    kind: 'start',
    id,
    tenant_id,
    selector: null,
    rank: 0,
    targets: [],
    retry_at: null,
    arrival: null,
    author: ADMIN,
    terms: terms(),
    subject: {
      tenant_id,
      environment_id: null,
      solution_id: null,
      targets: [],
      override: false,
      caller: { may_override_freezes: false, tenant_id },
    },
    ...more,
  }
}

export const arrival = (
  id: string,
  more: Partial<StartRequest> = {},
  { status = 'new', older = [] }: Partial<Arrival> = {},
): StartRequest => start(id, { ...more, arrival: { status, older } })

export const target = (id: string, policy: RequestedTarget['policy'] = 'queue'): RequestedTarget => ({
  id,
  name: id,
  policy,
})

export const held: TargetState = {
  holder: { deployment_id: 'd', tenant_id: null, since: new Date('2026-03-14T08:30:00Z') },
  reservations: [],
}

export interface World {
  snapshot: Snapshot
  requests: Request[]
}

const tenant = fc.constantFrom(null, 'x', 'y')
const zone = fc.constantFrom('a', 'b')
const selector = fc.oneof(
  { weight: 2, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: zone.map((value) => ({ match_labels: { zone: value } })) },
)
const TARGETS = [target('p', 'queue'), target('q', 'reject'), target('r', 'supersede'), target('s', 'supersede')]

const someInstance = fc.record({
  tenant_id: tenant,
  labels: fc.option(
    zone.map((value) => ({ zone: value })),
    { nil: {} },
  ),
  idle: fc.option(fc.constantFrom('draining' as const, 'lost' as const), { freq: 4, nil: null }),
  free: fc.nat({ max: 3 }),
  taken: fc.nat({ max: 2 }),
})

const someStart = fc.record({
  tenant_id: tenant,
  selector,
  rank: fc.nat({ max: 5 }),
  targets: fc.oneof(fc.constant([]), fc.subarray(TARGETS, { minLength: 1, maxLength: 2 })),
  override: fc.boolean(),
  status: fc.option(fc.constantFrom('new', 'new', 'new', 'queued', 'started', 'late'), { freq: 1, nil: null }),
  retries: fc.option(fc.constant(new Date(NOW.getTime() + 1_000)), { freq: 5, nil: null }),
})
type SomeStart = typeof someStart extends fc.Arbitrary<infer S> ? S : never

function requestOf({ status, retries, override, ...rest }: SomeStart, index: number): StartRequest {
  const base = start(`r${index}`, { ...rest, retry_at: status === null ? retries : null })
  const caller = { may_override_freezes: override, tenant_id: null }
  return {
    ...base,
    subject: { ...base.subject, override, caller },
    arrival: status === null ? null : { status, older: [] },
  }
}

/** Adds the pending requests that a new one replaces, as the reader finds them. */
function withOlder(request: StartRequest, requests: readonly StartRequest[]): StartRequest {
  if (request.arrival === null) return request
  const wanted = request.targets.filter(({ policy }) => policy === 'supersede')
  const older = requests.filter(
    ({ arrival, tenant_id, targets }) =>
      arrival === null &&
      tenant_id === request.tenant_id &&
      targets.length > 0 &&
      targets.every((one) => wanted.includes(one)),
  )
  const places = older.map(({ id, rank }) => ({ id, queued_at: `${rank}`, rankInItsPlace: rank + 1 }))
  return { ...request, arrival: { ...request.arrival, older: places } }
}

/** Random worlds. The requests stand in no order. */
export const worlds: fc.Arbitrary<World> = fc
  .record({
    instances: fc.array(someInstance, { maxLength: 4 }),
    frozen: fc.subarray([null, 'x', 'y'], { maxLength: 1 }),
    tenantLimit: fc.option(fc.integer({ min: 1, max: 3 }), { nil: null }),
    running: fc.nat({ max: 2 }),
    holding: fc.subarray(TARGETS, { maxLength: 2 }),
    starts: fc.array(someStart, { maxLength: 8 }),
    others: fc.array(fc.record({ kind: fc.constantFrom('orphan', 'check'), tenant_id: tenant, selector }), {
      maxLength: 6,
    }),
    readUpTo: fc.option(fc.nat({ max: 5 }), { freq: 6, nil: Number.POSITIVE_INFINITY }),
    runningChecks: fc.nat({ max: 4 }),
  })
  .map(({ instances, frozen, tenantLimit, running, holding, starts, others, readUpTo, runningChecks }) => {
    const requests = starts.map(requestOf)
    return {
      snapshot: snapshot({
        instances: instances.map(({ free, taken, ...rest }, index) => ({
          ...instance(`i${index}`, rest.idle === null ? free : 0),
          slots: free + taken,
          taken,
          ...rest,
        })),
        freezes: new FreezeSet(frozen.map((id) => freezeOf(id))),
        tenantLimit,
        running: new Map(tenantLimit === null ? [] : [['x', running]]),
        targets: new Map(holding.map(({ id }) => [id, held])),
        readUpTo,
        runningChecks: new Map([['x', runningChecks]]),
      }),
      requests: [
        ...others.map((other, index) => ({ ...other, id: `o${index}` })),
        ...requests.map((request) => withOlder(request, requests)),
      ],
    }
  })
