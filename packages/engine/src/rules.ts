import {
  type ApprovalRule,
  canOverride,
  type EnvironmentRules,
  hasRole,
  may,
  outlookOf,
  type PromotionRule,
  type Subject,
} from '@slipway/domain'
import { touchedBy } from './author.ts'
import type { Approval, PromotionState, RuledEnvironment, Snapshot, StartRequest, Terms } from './snapshot.ts'

/** A rule of an environment that asks for approvals which are missing. */
export interface MissingApprovals extends NamedEnvironment {
  count: number
  /** The id of the role, and its name. */
  role: string | null
  role_name: string | null
  allow_author: boolean
  missing: number
}

export interface NamedEnvironment {
  environment_id: string
  environment_name: string
  /** The tenant that the environment belongs to; null: all. */
  tenant_id: string | null
}

/** What keeps a version from an environment: it is not proved in the one before. */
export interface MissingPromotion extends NamedEnvironment {
  from_environment_id: string
  from_environment_name: string
  /** What the request deploys. */
  source: Terms['source']
  state: PromotionState
  /** When the version has been there long enough; null: more than time is missing. */
  ready_at: Date | null
}

export type RuleBlocker =
  | { code: 'start_time'; until: Date }
  | {
      code: 'approval'
      rules: readonly MissingApprovals[]
      given: readonly Approval[]
      /** When the request ends without them. */
      expires_at: Date
    }
  /** `until`: null if it is too far ahead to know. `isOver`: no window comes any more. */
  | { code: 'window'; environments: readonly ClosedEnvironment[]; until: Date | null; isOver: boolean }
  | { code: 'promotion'; rules: readonly MissingPromotion[]; until: Date | null }

export interface ClosedEnvironment extends NamedEnvironment {
  windows: NonNullable<EnvironmentRules['windows']>
}

/** The moment for which a request is judged: its start time, or now. */
export const judgedAt = ({ terms: { start_at } }: StartRequest, now: Date): Date =>
  start_at !== null && start_at > now ? start_at : now

/**
 * What the start time of a request and the rules of its environments say against its start. A request obeys the environment that it
 * names and those of its targets, by their rules now.
 */
export function ruleBlockersOf(snapshot: Snapshot, request: StartRequest, now: Date): RuleBlocker[] {
  const at = judgedAt(request, now)
  const rules = rulesFor(snapshot, request)
  return [
    ...(at > now ? [{ code: 'start_time', until: at } as const] : []),
    ...approval(rules, request),
    ...window(rules, at),
    ...promotion(snapshot, rules, request, at),
  ]
}

/** The environments whose rules count for a request: without those that its caller overrides. */
export function rulesFor({ rules }: Pick<Snapshot, 'rules'>, request: StartRequest): RuledEnvironment[] {
  const { subject, terms } = request
  if (rules.size === 0) return []
  const ids = new Set([subject.environment_id, ...subject.targets.map(({ environment_id }) => environment_id)])
  return [...ids].flatMap((id) => {
    const found = id === null ? undefined : rules.get(id)
    if (found === undefined) return []
    return terms.overrides_rules && canOverride(subject.caller, [found]) ? [] : [found]
  })
}

/** The rules of an environment that would keep a deployment from starting. */
export interface PassedRules {
  environment_id: string
  environment_name: string
  rules: ('approvals' | 'windows' | 'promotion')[]
}

/** The rules that a request passes because its caller overrides them. */
export function passedRules(snapshot: Snapshot, request: StartRequest, now: Date): PassedRules[] {
  const { terms } = request
  if (!terms.overrides_rules) return []
  const obeying = { ...request, terms: { ...terms, overrides_rules: false } }
  const counting = new Set(rulesFor(snapshot, request).map(({ id }) => id))
  const passed = rulesFor(snapshot, obeying).filter(({ id }) => !counting.has(id))
  return passed.flatMap((environment) => {
    const alone = { ...snapshot, rules: new Map([[environment.id, environment]]) }
    const codes = ruleBlockersOf(alone, obeying, now).map(({ code }) => code)
    const rules = PASSED.flatMap(({ code, rule }) => (codes.includes(code) ? [rule] : []))
    return rules.length === 0 ? [] : [{ environment_id: environment.id, environment_name: environment.name, rules }]
  })
}

const PASSED = [
  { code: 'approval', rule: 'approvals' },
  { code: 'window', rule: 'windows' },
  { code: 'promotion', rule: 'promotion' },
] as const

const named = ({ id, name, tenant_id }: RuledEnvironment): NamedEnvironment => ({
  environment_id: id,
  environment_name: name,
  tenant_id,
})

// --- approvals -----------------------------------------------------------------------------------------------------

type Asking = Pick<ApprovalRule, 'role' | 'allow_author'>

const fits = ({ subject, user_id }: Approval, { role, allow_author }: Asking, request: StartRequest) =>
  mayApprove(subject, request) &&
  hasAskedRole(subject, role, request) &&
  (allow_author || user_id !== request.terms.author_id)

const mayApprove = (subject: Subject | null, request: StartRequest) =>
  subject !== null && may(subject, 'deployments:approve', touchedBy(request)).allowed

const hasAskedRole = (subject: Subject | null, role: string | null, request: StartRequest) =>
  role === null || (subject !== null && hasRole(subject, role, touchedBy(request)))

/** Whether an approval counts for one of the rules at present. */
export const fitsAny = (approval: Approval, rules: readonly Asking[], request: StartRequest) =>
  rules.some((rule) => fits(approval, rule, request))

/** What each rule that asks for approvals still misses, in the order of the environments. */
export function approvalRules(rules: readonly RuledEnvironment[], request: StartRequest): MissingApprovals[] {
  return rules.flatMap((environment) => {
    const rule = environment.rules.approvals
    if (rule === undefined) return []
    const { count, role, allow_author } = rule
    const fitting = request.terms.approvals.filter((approval) => fits(approval, rule, request))
    const missing = Math.max(0, count - fitting.length)
    return [{ ...named(environment), count, role, role_name: environment.role_name, allow_author, missing }]
  })
}

/** The approvals of a request that count for one of the rules; none if no rule asks for any. */
export function countingApprovals(snapshot: Pick<Snapshot, 'rules'>, request: StartRequest): Approval[] {
  const asking = approvalRules(rulesFor(snapshot, request), request)
  return request.terms.approvals.filter((approval) => fitsAny(approval, asking, request))
}

/** When a request ends that misses approvals: the earliest end of all rules that ask for them. Null: none asks. */
export function approvalsExpireAt(rules: readonly RuledEnvironment[], { terms }: StartRequest): Date | null {
  const { queued_at, start_at } = terms
  const since = Math.max(queued_at.getTime(), start_at?.getTime() ?? 0)
  const ends = rules.flatMap(({ rules: { approvals } }) =>
    approvals === undefined ? [] : [since + approvals.expires_in_seconds * 1_000],
  )
  return ends.length === 0 ? null : new Date(Math.min(...ends))
}

function approval(rules: readonly RuledEnvironment[], request: StartRequest): RuleBlocker[] {
  const missing = approvalRules(rules, request).filter(({ missing }) => missing > 0)
  const expires_at = approvalsExpireAt(rules, request)
  if (missing.length === 0 || expires_at === null) return []
  return [{ code: 'approval', rules: missing, given: request.terms.approvals, expires_at }]
}

/** Who wants to approve or reject a request. */
export interface Approver {
  user_id: string
  /** Null: the user is not active, or its API key is gone. */
  subject: Subject | null
}

/**
 * Why a user may not approve a request, or null. `rights`: without the permission, or with no role that a rule asks for. `author`: the
 * author of the request. `not_needed`: nothing asks for it, or nothing is missing.
 */
export function approvalProblem(
  rules: readonly RuledEnvironment[],
  request: StartRequest,
  approver: Approver,
): 'rights' | 'author' | 'not_needed' | null {
  const refused = rejectionProblem(rules, request, approver)
  if (refused !== null) return refused
  return approvalRules(rules, request).every(({ missing }) => missing === 0) ? 'not_needed' : null
}

/** Whether a user may give an approval that is missing. A second one of the same user would change nothing. */
export const canApprove = (rules: readonly RuledEnvironment[], request: StartRequest, approver: Approver): boolean =>
  request.terms.approvals.every(({ user_id }) => user_id !== approver.user_id) &&
  approvalProblem(rules, request, approver) === null

/** The same for a rejection, which is possible as long as the request waits, also with all approvals. */
export function rejectionProblem(
  rules: readonly RuledEnvironment[],
  request: StartRequest,
  { user_id, subject }: Approver,
): 'rights' | 'author' | 'not_needed' | null {
  const asking = approvalRules(rules, request)
  const fitsRole = asking.length === 0 || asking.some(({ role }) => hasAskedRole(subject, role, request))
  if (!mayApprove(subject, request) || !fitsRole) return 'rights'
  if (user_id === request.terms.author_id && !asking.every(({ allow_author }) => allow_author)) return 'author'
  return asking.length === 0 ? 'not_needed' : null
}

// --- windows -------------------------------------------------------------------------------------------------------

function window(rules: readonly RuledEnvironment[], at: Date): RuleBlocker[] {
  const limited = rules.flatMap((environment) => {
    const { windows } = environment.rules
    return windows === undefined ? [] : [{ ...named(environment), windows }]
  })
  const outlook = outlookOf(
    limited.map(({ windows }) => windows),
    at,
  )
  if (outlook.is === 'inside') return []
  const closed = limited.filter(({ windows }) => outlookOf([windows], at).is !== 'inside')
  const environments = closed.length === 0 ? limited : closed
  return [
    { code: 'window', environments, until: outlook.is === 'over' ? null : outlook.at, isOver: outlook.is === 'over' },
  ]
}

// --- promotion -----------------------------------------------------------------------------------------------------

function promotion(
  { promotions }: Snapshot,
  rules: readonly RuledEnvironment[],
  request: StartRequest,
  at: Date,
): RuleBlocker[] {
  const missing = rules.flatMap((environment): MissingPromotion[] => {
    const rule = environment.rules.promotion
    if (rule === undefined) return []
    const found = promotions.get(promotionKey(request, environment.id))
    const state = found ?? NOWHERE
    const ready_at = readyAt(state, rule, request)
    if (state.was_in_force || (ready_at !== null && ready_at <= at)) return []
    const { from_environment_id } = rule
    const { source } = request.terms
    const from_environment_name = environment.from_environment_name ?? from_environment_id
    return [{ ...named(environment), from_environment_id, from_environment_name, source, state, ready_at }]
  })
  if (missing.length === 0) return []
  const times = missing.map(({ ready_at }) => ready_at)
  const known = times.filter((time) => time !== null)
  const until = known.length < times.length ? null : new Date(Math.max(...known.map((time) => time.getTime())))
  return [{ code: 'promotion', rules: missing, until }]
}

const NOWHERE: PromotionState = { versions: [], drifted: 0, since: null, was_in_force: false }

/** When the version may go on; null: it is not, or not alone, in force in the environment before. */
export function readyAt(
  { versions, drifted, since }: PromotionState,
  { hours }: PromotionRule,
  { terms: { source } }: StartRequest,
): Date | null {
  const [only, ...others] = versions
  if (only === undefined || others.length > 0 || drifted > 0 || since === null) return null
  if (only.version !== source.version || only.variant !== source.variant) return null
  return new Date(since.getTime() + hours * 3_600_000)
}

/** What the state of a promotion depends on: what the request's tenant sees of its source. */
export const promotionKey = ({ tenant_id, terms: { source } }: StartRequest, environmentId: string): string =>
  [environmentId, source.id, source.version, source.variant ?? '', tenant_id ?? ''].join(' ')
