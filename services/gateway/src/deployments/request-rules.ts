import { Problem } from '@slipway/domain'
import { isObject } from '@slipway/http'
import { type CallingUser, mayOverrideFreezes } from '../callers/calling-user.ts'
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
    problems.push({ path: '/target_ids', message: 'give target_ids, target_tags or both' })
  }
  if (body['versions_of'] !== undefined && body['version_requirement'] !== undefined) {
    problems.push({ path: '/versions_of', message: 'chooses the versions by itself: leave version_requirement out' })
  }
  if (body['tenant_id'] !== undefined && body['environment_id'] === undefined) problems.push(missing('environment_id'))
  return problems
}

export const redeployRules: Check = (body) => {
  const problems = [
    ...valueProblems(body['variables'], 'variables'),
    ...valueProblems(body['prompted_values'], 'prompted_values'),
  ]
  if (body['override_freeze'] === true && body['override_reason'] === undefined) {
    problems.push(missing('override_reason'))
  }
  return problems
}

/** Refuses an override of other users even without a freeze: a field must never be ignored. */
export function authorizeOverride(caller: CallingUser, body: unknown): void {
  if (!isObject(body) || body['override_freeze'] !== true || mayOverrideFreezes(caller)) return
  throw new Problem(
    'INSUFFICIENT_PERMISSIONS',
    'Overriding a freeze needs the role admin, and for an API key the scope deployments:override',
  )
}
