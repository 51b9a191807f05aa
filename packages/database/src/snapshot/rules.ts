import { offsetOf, type Plan, variantOf } from '@slipway/domain'
import {
  type Approval,
  type PromotionState,
  promotionKey,
  type Request,
  type RuledEnvironment,
  rulesFor,
  type Snapshot,
  type StartRequest,
  type Terms,
} from '@slipway/engine'
import type { Queryable, RowOf } from '../sql/statement.ts'
import type { findPending } from './queue.sql.ts'
import { findApprovals, findPromotions, type StoredRules } from './rules.sql.ts'

/** The rules by environment. A window keeps the UTC offset of its start, as a freeze does. */
export const rulesById = (stored: readonly StoredRules[] | null): ReadonlyMap<string, RuledEnvironment> =>
  new Map(
    (stored ?? []).map(({ rules, ...environment }) => {
      const windows = rules.windows?.map((each) => ({ ...each, start_offset: offsetOf(String(each.start_time)) }))
      return [environment.id, { ...environment, rules: windows === undefined ? rules : { ...rules, windows } }]
    }),
  )

type TermsRow = Pick<
  RowOf<typeof findPending>,
  | 'queued_at'
  | 'start_at'
  | 'expires_at'
  | 'overrides_rules'
  | 'author_id'
  | 'author_key_id'
  | 'source_id'
  | 'source_type'
  | 'source_version'
  | 'variant'
>

/** The terms of a stored request. Its approvals are read later, if a rule asks for them. */
export const storedTerms = (row: TermsRow): Terms => ({
  queued_at: row.queued_at,
  start_at: row.start_at,
  expires_at: row.expires_at,
  overrides_rules: row.overrides_rules,
  author_id: row.author_id,
  author_key_id: row.author_key_id,
  approvals: [],
  source: { id: row.source_id, type: row.source_type, version: row.source_version, variant: row.variant },
})

/** What a request that is not stored says of itself. */
export interface GivenTerms {
  plan: Plan
  caller: { user_id: string; key_id?: string }
  rules: { override: boolean; start_at: Date | null; expires_at: Date | null }
}

export const newTerms = ({ plan, caller, rules }: GivenTerms, now: Date): Terms => ({
  queued_at: now,
  start_at: rules.start_at,
  expires_at: rules.expires_at,
  overrides_rules: rules.override,
  author_id: caller.user_id,
  author_key_id: caller.key_id ?? null,
  approvals: [],
  source: { ...plan.source, variant: variantOf(plan.source, plan.actions) },
})

/**
 * Adds the approvals that requests have, and what is in force in the environments before theirs. Reads nothing if no rule of their
 * environments asks for it.
 */
export async function withRuleFacts(
  db: Queryable,
  snapshot: Snapshot,
  requests: readonly Request[],
): Promise<{ promotions: ReadonlyMap<string, PromotionState>; requests: Request[] }> {
  const ruled = requests.flatMap((request) => {
    if (request.kind !== 'start') return []
    const rules = rulesFor(snapshot, request)
    return rules.length === 0 ? [] : [{ request, rules }]
  })
  const approved = ruled.filter(
    ({ request, rules }) => request.arrival === null && rules.some((one) => one.rules.approvals),
  )
  // Also of rules that are overridden: the audit record says which of them would have kept it.
  const promoted = new Map(
    requests.flatMap((request) => {
      if (request.kind !== 'start') return []
      const obeying = { ...request, terms: { ...request.terms, overrides_rules: false } }
      return rulesFor(snapshot, obeying).flatMap((one) => askedPromotion(request, one))
    }),
  )
  const [approvals, states] = await Promise.all([
    approved.length === 0 ? [] : findApprovals.all(db, { ids: approved.map(({ request }) => request.id) }),
    promoted.size === 0 ? [] : findPromotions.all(db, { asked: [...promoted.values()] }),
  ])
  const given = approvalsByRequest(approvals)
  return {
    promotions: new Map([...promoted.keys()].map((key, index) => [key, stateOf(states[index])])),
    requests: requests.map((request) => {
      const own = given.get(request.id)
      return request.kind !== 'start' || own === undefined
        ? request
        : { ...request, terms: { ...request.terms, approvals: own } }
    }),
  }
}

/** The approvals of each request, with what their users may do now. */
export function approvalsByRequest(rows: readonly RowOf<typeof findApprovals>[]): ReadonlyMap<string, Approval[]> {
  const given = new Map<string, Approval[]>()
  for (const { request_id, is_active, bindings, ...approval } of rows) {
    const subject = is_active ? { bindings, key: null } : null
    given.set(request_id, [...(given.get(request_id) ?? []), { ...approval, subject }])
  }
  return given
}

function askedPromotion(request: StartRequest, { id, rules: { promotion } }: RuledEnvironment) {
  if (promotion === undefined) return []
  const { tenant_id, terms } = request
  const { id: source_id, version, variant } = terms.source
  const { from_environment_id } = promotion
  const asked = { environment_id: id, from_environment_id, source_id, version, variant, tenant_id }
  return [[promotionKey(request, id), asked] as const]
}

const stateOf = (row: RowOf<typeof findPromotions> | undefined): PromotionState => ({
  versions: row?.versions ?? [],
  drifted: row?.drifted ?? 0,
  since: row?.since ?? null,
  was_in_force: row?.was_in_force ?? false,
})
