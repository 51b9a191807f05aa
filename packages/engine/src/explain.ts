import { type ActiveFreeze, type BLOCKER_CODES, canOverride, type FreezeSubject } from '@slipway/domain'
import type { Blocker, BlockingFreeze } from './blockers.ts'
import { notPromoted, windowsAreOver } from './endings.ts'
import { byHoldingTime, heldBy, type ShownHolder, shownHolder } from './holders.ts'
import type { PoolState } from './pools.ts'
import { type ShownPromotion, shownPromotion, withoutTenant } from './refusals.ts'
import type { MissingApprovals } from './rules.ts'
import type { Approval, RequestedTarget } from './snapshot.ts'

/** The code of a reason as it is shown. */
export type ShownCode = (typeof BLOCKER_CODES)[number]

/** All that keeps a request from starting for the reason of this code. */
export interface ShownBlocker {
  code: ShownCode
  message: string
  /** When none of it blocks any more; null: nobody knows. */
  until: Date | null
  /** Whether the viewer could start the deployment in spite of it. */
  can_override: boolean
  details: BlockerDetails
}

/** Only what belongs to the code is there. */
export interface BlockerDetails {
  start_at?: string
  rules?: ShownRule[]
  given?: ShownApproval[]
  expires_at?: string
  /** With `window`: the environments outside all of their windows. */
  environments?: { environment_id: string; environment_name: string }[]
  promotions?: ShownPromotion[]
  /** Those that the viewer may see. */
  freezes?: ActiveFreeze[]
  instances?: ShownPool
  running?: number
  limit?: number
  /** At most `NAMED`; the counts are of all. */
  held_targets?: ShownHolder[]
  held_count?: number
  reserved_targets?: { target_id: string; target_name: string }[]
  reserved_count?: number
}

/** A rule that asks for approvals. */
export interface ShownRule {
  environment_id: string
  environment_name: string
  count: number
  /** The name of the role. */
  role: string | null
  allow_author: boolean
  missing: number
}

export const shownRule = (rule: MissingApprovals): ShownRule => {
  const { environment_id, environment_name, count, role_name: role, allow_author, missing } = rule
  return { environment_id, environment_name, count, role, allow_author, missing }
}

export interface ShownApproval {
  user_id: string
  user_name: string
  at: string
  comment: string | null
}

export const shownApproval = ({ user_id, user_name, at, comment }: Approval): ShownApproval => {
  return { user_id, user_name, at: at.toISOString(), comment }
}

/** The instances that a request needs. */
export type ShownPool = Omit<PoolState, 'idle' | 'enrolled'>

/** Who reads the explanation. A viewer without a tenant sees all deployments. */
export type Viewer = FreezeSubject['caller']

/** What sentences need besides the blockers. */
export interface Asked {
  viewer: Viewer
  now: Date
  tenant_name: string | null
  /** The version that instances must have. */
  version: string
  /** After how many seconds without a heartbeat an instance is lost. */
  lostAfterSeconds: number
  /** Its place among the requests of its pool; null: it is not pending. */
  position: number | null
  /** How long the last runs took; null: there are too few. */
  runSeconds: number | null
}

/** The most targets that an explanation names. */
const NAMED = 3

/** What keeps a request from starting, one entry for each code, in the order of the blockers. The first is `waiting_for`. */
export function explain(blockers: readonly Blocker[], asked: Asked): ShownBlocker[] {
  const entries = new Map<ShownCode, ShownBlocker>()
  for (const blocker of blockers) {
    const entry = shown(blocker, asked)
    if (entry === null) continue
    const first = entries.get(entry.code)
    entries.set(entry.code, first === undefined ? entry : { ...first, until: laterOf(first.until, entry.until) })
  }
  return [...entries.values()]
}

/** When the last blocker ends; null: nobody knows. The present time if there is none. */
export const earliestStart = (blockers: readonly Pick<ShownBlocker, 'until'>[], now: Date): Date | null =>
  blockers.reduce<Date | null>((latest, { until }) => laterOf(latest, until), now)

const laterOf = (one: Date | null, other: Date | null) =>
  one === null || other === null ? null : one > other ? one : other

/** What is said of a pending request without a blocker: the next round starts it. */
export const aboutToStart = (pool: PoolState, now: Date): Omit<ShownBlocker, 'can_override'> => {
  return { code: 'capacity', message: slotsFree(pool), until: now, details: {} }
}

export const shownPool = ({ name, selector, known, matching, accepting, slots, taken }: PoolState): ShownPool => {
  return { name, selector, known, matching, accepting, slots, taken }
}

/** Null for a blocker that only checks of drift have. They are no requests of a user. */
function shown(blocker: Blocker, asked: Asked): ShownBlocker | null {
  const entry = { until: null, can_override: false }
  switch (blocker.code) {
    case 'start_time': {
      const { code, until } = blocker
      return {
        ...entry,
        code,
        until,
        message: `Starts at ${until.toISOString()}`,
        details: { start_at: until.toISOString() },
      }
    }
    case 'approval':
      return { ...entry, code: blocker.code, ...approvalsMissing(blocker, asked) }
    case 'window': {
      const { code, until, environments } = blocker
      const can_override = canOverride(asked.viewer, environments)
      return {
        code,
        until,
        can_override,
        message: outside(blocker),
        details: { environments: environments.map(namedEnvironment) },
      }
    }
    case 'promotion': {
      const { code, until, rules } = blocker
      const [rule] = rules
      if (rule === undefined) return null
      const can_override = canOverride(asked.viewer, rules)
      const details = { promotions: rules.map(shownPromotion) }
      return { code, until, can_override, message: notPromoted(rule), details }
    }
    case 'freeze': {
      const can_override = canOverride(asked.viewer, blocker.freezes)
      return { code: 'freeze', until: blocker.until, can_override, ...heldBack(blocker.freezes, asked.viewer) }
    }
    case 'instance_pool':
    case 'no_compatible_instance': {
      const { code, pool } = blocker
      const message = code === 'instance_pool' ? withoutMatch(pool, asked) : withoutInstance(pool, asked)
      return { ...entry, code, message, details: { instances: shownPool(pool) } }
    }
    case 'tenant_limit': {
      const { code, running, limit } = blocker
      const tenant = asked.tenant_name === null ? 'Its tenant' : `Tenant "${asked.tenant_name}"`
      const message = `${tenant} runs ${pluralize(running, 'deployment')}, as many as a tenant may at once (${limit})`
      return { ...entry, code, message, details: { running, limit } }
    }
    case 'target_lock':
      return { ...entry, code: blocker.code, ...targetLock(blocker, asked.viewer) }
    case 'retry_delay': {
      const message = 'Its dispatch failed and is about to be tried again'
      return { ...entry, code: 'capacity', message, until: blocker.until, details: {} }
    }
    case 'capacity': {
      const { code, pool } = blocker
      const details = { instances: shownPool(pool) }
      return { ...entry, code, message: capacityTaken(pool, asked), until: startOf(pool, asked), details }
    }
    case 'check_limit':
      return null
  }
}

type Named = { environment_id: string; environment_name: string }

const namedEnvironment = ({ environment_id, environment_name }: Named): Named => ({ environment_id, environment_name })

function approvalsMissing(
  { rules, given, expires_at }: Extract<Blocker, { code: 'approval' }>,
  { viewer }: Asked,
): Pick<ShownBlocker, 'message' | 'can_override' | 'details'> {
  const shown = rules.map(shownRule)
  const parts = shown.map(({ environment_name, missing, role }) => {
    const who = role === null ? '' : ` of the role ${role}`
    return `${pluralize(missing, 'approval')}${who} for "${environment_name}"`
  })
  return {
    message: `Waits for ${parts.join(' and ')}, until ${expires_at.toISOString()}`,
    can_override: canOverride(viewer, rules),
    details: { rules: shown, given: given.map(shownApproval), expires_at: expires_at.toISOString() },
  }
}

function outside(window: Extract<Blocker, { code: 'window' }>): string {
  if (window.isOver) return windowsAreOver(window)
  const names = window.environments.map(({ environment_name }) => `"${environment_name}"`).join(' and ')
  const next =
    window.until === null ? 'nobody knows when the next one begins' : `the next begins at ${window.until.toISOString()}`
  return `Outside the windows of ${names}: ${next}`
}

function heldBack(
  freezes: readonly BlockingFreeze[],
  { tenant_id }: Viewer,
): Pick<ShownBlocker, 'message' | 'details'> {
  const isVisible = (freeze: BlockingFreeze) =>
    tenant_id === null || freeze.tenant_id === null || freeze.tenant_id === tenant_id
  const reasons = freezes.map((freeze) => {
    const name = isVisible(freeze) ? `freeze "${freeze.name}"` : 'a freeze of another tenant'
    return `${name} until ${freeze.ends_at}`
  })
  const details = { freezes: freezes.filter(isVisible).map(withoutTenant) }
  return { message: `Held back by ${reasons.join(' and ')}`, details }
}

type TargetLock = Extract<Blocker, { code: 'target_lock' }>

function targetLock({ held, reserved }: TargetLock, viewer: Viewer): Pick<ShownBlocker, 'message' | 'details'> {
  const named = [...held].sort(byHoldingTime).slice(0, NAMED)
  const held_targets = named.map((target) => shownHolder(target, viewer.tenant_id))
  const details = {
    held_targets,
    held_count: held.length,
    reserved_targets: reserved.slice(0, NAMED).map(shownTarget),
    reserved_count: reserved.length,
  }
  const [first] = held_targets
  if (first === undefined)
    return { message: `Waits for the target "${reserved[0]?.name}": a request before it comes first`, details }
  const more = held.length - 1
  const others = more > 0 ? `; ${more} more of its targets ${more === 1 ? 'is' : 'are'} held` : ''
  return { message: `Waits for the target "${first.target_name}", ${heldBy(first)}${others}`, details }
}

const shownTarget = ({ id, name }: RequestedTarget) => ({ target_id: id, target_name: name })

function withoutMatch(pool: PoolState, asked: Asked): string {
  const { name, known, matching } = pool
  if (matching === 0) {
    return `No orchestration instance matches ${name} (${pluralize(known, 'instance')} known): start one with these labels`
  }
  return `No orchestration instance that matches ${name} can take it: of ${pluralize(matching, 'instance')} ${why(idleReasons(pool, asked))}`
}

function withoutInstance(pool: PoolState, asked: Asked): string {
  const { enrolled, known } = pool
  if (enrolled === 0) {
    return `No orchestration instance has joined: start one of version ${asked.version} with a join token`
  }
  const others = enrolled - known
  const reasons = [...idleReasons(pool, asked), ...(others > 0 ? [`${others} for other tenants only`] : [])]
  return `No orchestration instance can take it: of ${pluralize(enrolled, 'instance')} ${why(reasons)}`
}

const why = (reasons: readonly string[]) => (reasons.length > 0 ? reasons.join(', ') : 'none has a slot')

function idleReasons({ idle }: PoolState, { lostAfterSeconds, version }: Asked): string[] {
  const { lost, draining, refusing, foreign } = idle
  return [
    lost > 0 ? `${lost} sent no heartbeat for ${lostAfterSeconds} seconds` : '',
    draining > 0 ? `${draining} draining` : '',
    refusing > 0 ? `${refusing} without room for new runs` : '',
    foreign > 0 ? `${foreign} of another version than ${version}` : '',
  ].filter((reason) => reason !== '')
}

function capacityTaken(pool: PoolState, { position }: Asked): string {
  const free = freeSlots(pool)
  if (position !== null && position <= free) return slotsFree(pool)
  const taken = `${free === 0 ? 'All' : `${pool.taken} of`} ${allSlots(pool)} are taken`
  if (position === null) return taken
  return `${taken}; ${position === 1 ? 'it is next' : `${pluralize(position - 1, 'request')} before it`}`
}

const slotsFree = (pool: PoolState) => `About to start: ${freeSlots(pool)} of ${allSlots(pool)} free`

/** An instance whose number of slots was lowered may run more deployments than it has slots. */
const freeSlots = ({ slots, taken }: PoolState) => Math.max(0, slots - taken)

function allSlots({ name, selector, slots, accepting }: PoolState): string {
  const matching = selector === null ? '' : ` that match${accepting === 1 ? 'es' : ''} ${name}`
  return `${pluralize(slots, 'slot')} of ${pluralize(accepting, 'orchestration instance')}${matching}`
}

/** Longer estimates are too uncertain to show. */
const LONGEST_ESTIMATE_SECONDS = 30 * 24 * 3_600

/** When a request that waits for a slot probably starts. */
function startOf(pool: PoolState, { now, position, runSeconds }: Asked): Date | null {
  if (position === null) return null
  const free = freeSlots(pool)
  const seconds = position <= free ? 0 : runSeconds === null ? null : ((position - free) * runSeconds) / pool.slots
  if (seconds === null || seconds > LONGEST_ESTIMATE_SECONDS) return null
  return new Date(now.getTime() + seconds * 1_000)
}

const pluralize = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`
