import type { ActiveFreeze } from '@slipway/domain'
import type { Blocker } from './blockers.ts'
import { byHoldingTime, heldBy, type ShownHolder, shownHolder } from './holders.ts'
import type { PoolState } from './pools.ts'

/** A reason as it is shown. Several blockers can have the same code: they share one explanation. */
export type WaitingCode =
  | 'freeze'
  | 'instance_pool'
  | 'no_compatible_instance'
  | 'tenant_limit'
  | 'target_lock'
  | 'capacity'

export interface Explanation {
  code: WaitingCode
  message: string
  /** When none of the blockers of this code blocks any more; null: nobody knows. */
  until: Date | null
  /** Whether the viewer could start the deployment in spite of it. */
  can_override: boolean
  details: ExplanationDetails
}

export type ExplanationDetails =
  | { freezes: readonly ActiveFreeze[] }
  | { pool: PoolState }
  | { running: number; limit: number }
  | {
      held_targets: readonly ShownHolder[]
      held: number
      reserved: readonly { target_id: string; target_name: string }[]
    }
  | Record<string, never>

/** Who reads the explanation. A viewer without a tenant sees all deployments. */
export interface Viewer {
  tenant_id: string | null
}

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

/** The most held targets that an explanation names. */
const NAMED = 3

/** What keeps a request from starting, one entry for each code, in the order of the blockers. The first is `waiting_for`. */
export function explain(blockers: readonly Blocker[], asked: Asked): Explanation[] {
  const entries = new Map<WaitingCode, Explanation>()
  for (const blocker of blockers) {
    const entry = explanationOf(blocker, asked)
    if (entry !== null && !entries.has(entry.code)) entries.set(entry.code, entry)
  }
  return [...entries.values()]
}

function explanationOf(blocker: Blocker, asked: Asked): Explanation | null {
  const entry = { until: null, can_override: false }
  switch (blocker.code) {
    case 'freeze': {
      const { freezes, can_override, until } = blocker
      const reasons = freezes.map(({ name, ends_at }) => `freeze "${name}" until ${ends_at}`)
      const message = `Held back by ${reasons.join(' and ')}`
      return { code: 'freeze', message, until, can_override, details: { freezes } }
    }
    case 'instance_pool':
      return {
        ...entry,
        code: blocker.code,
        message: withoutMatch(blocker.pool, asked),
        details: { pool: blocker.pool },
      }
    case 'no_compatible_instance':
      return {
        ...entry,
        code: blocker.code,
        message: withoutInstance(blocker.pool, asked),
        details: { pool: blocker.pool },
      }
    case 'tenant_limit': {
      const { running, limit } = blocker
      const tenant = asked.tenant_name === null ? 'Its tenant' : `Tenant "${asked.tenant_name}"`
      const message = `${tenant} runs ${pluralize(running, 'deployment')}, as many as a tenant may at once (${limit})`
      return { ...entry, code: blocker.code, message, details: { running, limit } }
    }
    case 'target_lock':
      return { ...entry, code: blocker.code, ...targetLock(blocker, asked.viewer) }
    case 'retry_delay':
      return {
        ...entry,
        code: 'capacity',
        message: 'Its dispatch failed and is about to be tried again',
        until: blocker.until,
        details: {},
      }
    case 'capacity': {
      const { pool } = blocker
      return {
        ...entry,
        code: blocker.code,
        message: capacityTaken(pool, asked),
        until: startOf(pool, asked),
        details: { pool },
      }
    }
    case 'check_limit':
      // Checks of drift are no requests of somebody who could read it.
      return null
  }
}

type TargetLock = Extract<Blocker, { code: 'target_lock' }>

function targetLock({ held, reserved }: TargetLock, viewer: Viewer): Pick<Explanation, 'message' | 'details'> {
  const named = [...held].sort(byHoldingTime).slice(0, NAMED)
  const held_targets = named.map((target) => shownHolder(target, viewer.tenant_id))
  const details = {
    held_targets,
    held: held.length,
    reserved: reserved.slice(0, NAMED).map(({ id, name }) => ({ target_id: id, target_name: name })),
  }
  const [first] = held_targets
  if (first === undefined)
    return { message: `Waits for the target "${reserved[0]?.name}": a request before it comes first`, details }
  const more = held.length - 1
  const others = more > 0 ? `; ${more} more of its targets ${more === 1 ? 'is' : 'are'} held` : ''
  return { message: `Waits for the target "${first.target_name}", ${heldBy(first)}${others}`, details }
}

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

function capacityTaken({ name, selector, slots, taken, accepting }: PoolState, { position }: Asked): string {
  const matching = selector === null ? '' : ` that match${accepting === 1 ? 'es' : ''} ${name}`
  const all = `${pluralize(slots, 'slot')} of ${pluralize(accepting, 'orchestration instance')}${matching}`
  const free = slots - taken
  // The dispatcher fills free slots within moments.
  if (position !== null && position <= free) return `About to start: ${free} of ${all} free`
  const before = position === null || position === 1 ? 'it is next' : `${pluralize(position - 1, 'request')} before it`
  return `${free === 0 ? 'All' : `${taken} of`} ${all} are taken; ${before}`
}

/** Longer estimates are too uncertain to show. */
const LONGEST_ESTIMATE_SECONDS = 30 * 24 * 3_600

/** When a request that waits for a slot probably starts. */
function startOf({ slots, taken }: PoolState, { now, position, runSeconds }: Asked): Date | null {
  if (position === null) return null
  const free = slots - taken
  const seconds = position <= free ? 0 : runSeconds === null ? null : ((position - free) * runSeconds) / slots
  if (seconds === null || seconds > LONGEST_ESTIMATE_SECONDS) return null
  return new Date(now.getTime() + seconds * 1_000)
}

const pluralize = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`
