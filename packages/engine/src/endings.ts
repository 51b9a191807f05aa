import { closesAt } from '@slipway/domain'
import { withdrawnRight } from './author.ts'
import type { Blocker } from './blockers.ts'
import { fitsAny, judgedAt, type MissingPromotion } from './rules.ts'
import type { RuledEnvironment, StartRequest } from './snapshot.ts'

/** How a request ends that starts no more. */
export interface Ending {
  status: 'cancelled' | 'failed'
  /** Null if it failed. */
  because: 'expired' | 'approval_expired' | null
  message: string
}

/** Whether a stored request with these blockers can start no more. Null: it starts or waits. */
export function endingOf(request: StartRequest, blockers: readonly Blocker[], at: Date): Ending | null {
  const { expires_at } = request.terms
  if (expires_at !== null && expires_at <= at) {
    const message = `It did not start before ${expires_at.toISOString()}, when it expired`
    return { status: 'cancelled', because: 'expired', message }
  }
  // Checked when it would start: rights that come back until then count.
  const withdrawn = blockers.length === 0 ? withdrawnRight(request) : null
  if (withdrawn !== null) return { status: 'failed', because: null, message: withdrawn }
  for (const blocker of blockers) {
    if (blocker.code === 'approval' && blocker.expires_at <= at) {
      const names = blocker.rules.map(({ environment_name }) => `"${environment_name}"`).join(', ')
      const message = `The approvals for ${names} were not given before ${blocker.expires_at.toISOString()}`
      return { status: 'cancelled', because: 'approval_expired', message }
    }
    if (blocker.code === 'window' && blocker.isOver)
      return { status: 'failed', because: null, message: windowsAreOver(blocker) }
    // Whether a version is promoted counts at the moment at which the deployment would start.
    if (
      blocker.code === 'promotion' &&
      blocker.until === null &&
      judgedAt(request, at) <= at &&
      !waitsForTime(blockers)
    ) {
      const [rule] = blocker.rules.filter(({ ready_at }) => ready_at === null)
      if (rule !== undefined) return { status: 'failed', because: null, message: notPromoted(rule) }
    }
  }
  return null
}

const waitsForTime = (blockers: readonly Blocker[]) =>
  blockers.some(({ code }) => code === 'approval' || code === 'window' || code === 'freeze')

export const windowsAreOver = ({ environments }: Extract<Blocker, { code: 'window' }>): string => {
  const names = environments.map(({ environment_name }) => `"${environment_name}"`).join(', ')
  return `No window of ${names} comes any more: add one to the rules of the environment`
}

/** Why a version may not go on to an environment. */
export function notPromoted({
  environment_name,
  from_environment_name,
  source,
  state,
  ready_at,
}: MissingPromotion): string {
  const { version } = source
  const where = `"${environment_name}" takes what "${from_environment_name}" has proved`
  const others = state.versions.filter((one) => one.version !== version || one.variant !== source.variant)
  if (state.versions.length === 0) return `${where}, and the source is not there: deploy ${version} there first`
  if (others.length > 0) {
    const has = state.versions.map(({ version: each, targets }) => `${each} on ${targets}`).join(', ')
    const isSame = others.every((one) => one.version === version)
    return isSame
      ? `${where}: ${version} is there with other parts. Deploy the same versions of its parts there first`
      : `${where}, and has ${has}: deploy ${version} to all its targets first`
  }
  if (state.drifted > 0) return `${where}: ${state.drifted} of its targets drifted. Deploy ${version} there again first`
  return `${where}: ${version} has been there since ${state.since?.toISOString()}, and may go on from ${ready_at?.toISOString()}`
}

/** How long a request waits before it is judged again if an approval does not count at present. */
const LOOK_AGAIN_MS = 60_000
const FAR_MS = 24 * 3_600_000

/**
 * The next moment at which a waiting request must be judged although nobody changes anything. Null: only a change can matter. What is
 * in the queue is judged in its turn, so only its end counts, and the end of a window that is open now.
 */
export function reviewAt(
  request: StartRequest,
  blockers: readonly Blocker[],
  { at, rules }: { at: Date; rules: readonly RuledEnvironment[] },
): Date | null {
  const windows = rules.flatMap(({ rules: { windows } }) => (windows === undefined ? [] : [windows]))
  const isClosed = blockers.some(({ code }) => code === 'window')
  const closes = isClosed ? null : closesAt(windows, at)
  const moments = [request.terms.expires_at, closes].filter((time) => time !== null)
  const clears: Date[] = []
  let isTimed = false
  let needsApproval = false
  let thawsAt = new Date(at.getTime() + FAR_MS)
  for (const blocker of blockers) {
    if (blocker.code === 'approval') {
      needsApproval = true
      moments.push(blocker.expires_at)
      if (blocker.given.some((approval) => !fitsAny(approval, blocker.rules, request)))
        moments.push(new Date(at.getTime() + LOOK_AGAIN_MS))
    } else if (blocker.code === 'start_time' || blocker.code === 'window' || blocker.code === 'promotion') {
      isTimed = true
      if (blocker.until !== null) clears.push(blocker.until)
    } else if (blocker.code === 'freeze') thawsAt = blocker.until
  }
  // What no moment ends is judged again when a freeze ends, or after a day.
  if (isTimed && !needsApproval) moments.push(clears.length === 0 ? thawsAt : latestOf(clears))
  return moments.length === 0 ? null : new Date(Math.min(...moments.map((time) => time.getTime())))
}

const latestOf = (times: readonly Date[]) => new Date(Math.max(...times.map((time) => time.getTime())))
