import { type FieldError, may, Problem } from '@slipway/domain'
import { isObject } from '@slipway/http'
import type { CallingUser } from '../callers/calling-user.ts'
import { valueProblems } from '../catalog/variable-rules.ts'
import type { Check } from '../handler.ts'

const SOURCES = ['solution_id', 'sequence_id', 'action_id'] as const

const missing = (field: string) => ({ path: `/${field}`, message: 'is required', missing: field })
const isGiven = (list: unknown) => list !== undefined && !(Array.isArray(list) && list.length === 0)

export const createRules: Check = (body) => {
  const problems = redeployRules(body)
  const [first, second] = SOURCES.filter((field) => body[field] !== undefined)
  if (first === undefined || second !== undefined) {
    problems.push({ path: `/${second ?? SOURCES[0]}`, message: `give exactly one of ${SOURCES.join(', ')}` })
  }
  if (!isGiven(body['target_ids']) && !isGiven(body['target_tags'])) {
    problems.push({ path: '/target_ids', message: 'give target_ids or target_tags, or both' })
  }
  if (body['versions_of'] !== undefined && body['version_requirement'] !== undefined) {
    problems.push({ path: '/versions_of', message: 'chooses the versions by itself: leave version_requirement out' })
  }
  if (body['tenant_id'] !== undefined && body['environment_id'] === undefined) problems.push(missing('environment_id'))
  return problems
}

export const redeployRules: Check = (body) => {
  const problems: FieldError[] = [
    ...valueProblems(body['variables'], 'variables'),
    ...valueProblems(body['prompted_values'], 'prompted_values'),
  ]
  if (overrides(body) && body['override_reason'] === undefined) problems.push(missing('override_reason'))
  return [...problems, ...timeProblems(body)]
}

const overrides = (body: Record<string, unknown>) => body['override_freeze'] === true || body['override_rules'] === true

/** A start time in the past is now; an end must lie after it. */
function timeProblems({ start_at, expires_at }: Record<string, unknown>): FieldError[] {
  const times = Object.entries({ start_at, expires_at }).flatMap(([field, time]) =>
    typeof time === 'string' ? [{ field, at: new Date(time).getTime() }] : [],
  )
  const unreal = times.filter(({ at }) => Number.isNaN(at))
  if (unreal.length > 0) {
    return unreal.map(({ field }) => ({ path: `/${field}`, message: 'must be a moment that exists' }))
  }
  const end = times.find(({ field }) => field === 'expires_at')
  if (end === undefined) return []
  if (end.at <= Date.now()) return [{ path: '/expires_at', message: 'must be in the future' }]
  const isLate = times.some(({ field, at }) => field === 'start_at' && at >= end.at)
  return isLate ? [{ path: '/expires_at', message: 'must be after start_at' }] : []
}

/** Refuses an override of other users even without a freeze: a field must never be ignored. */
export function authorizeOverride(caller: CallingUser, body: unknown): void {
  if (!isObject(body) || !overrides(body) || may(caller, 'deployments:override').allowed) return
  throw new Problem(
    'INSUFFICIENT_PERMISSIONS',
    'Overriding a freeze or a rule needs the role admin, and for an API key the scope deployments:override',
  )
}
