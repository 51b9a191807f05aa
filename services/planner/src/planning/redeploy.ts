import type { CommandBody } from '@slipway/contracts'
import type { RowOf } from '@slipway/database'
import { openPlanValues } from '@slipway/database/read-models'
import { conflict, isSealed, mergeValues, missingRecords, type Problem, validationProblem } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'
import type { findOriginal } from '../records/original.sql.ts'
import type { MissingRecord } from './planning.ts'
import { type GivenValues, namesOf, optionsOf, type PlanningRequest, pinsOfDeployment } from './request.ts'

type OriginalDeployment = RowOf<typeof findOriginal>
type RedeployCommand = CommandBody<'plan.redeploy'>

/** The original request with the original versions and the changes of this request. */
export function redeployRequest(
  keyRing: KeyRing,
  { command_id, caller, request }: RedeployCommand,
  original: OriginalDeployment,
  given: GivenValues,
  { compare }: Pick<PlanningRequest, 'compare'>,
): PlanningRequest {
  const { plan_head: head } = original
  const { source, tenant, environment } = head
  const originalValues = openPlanValues(keyRing, head, head.override_variables)
  return {
    command_id,
    caller,
    source: { type: source.type, id: source.id },
    version_requirement: original.selection.version_requirement ?? undefined,
    pins: pinsOfDeployment(original),
    tenant_id: tenant?.id ?? caller.tenant_id,
    environment_id: request.environment_id ?? environment?.id ?? null,
    ...targetsOf(request, original),
    strict: request.strict ?? false,
    only_changed: request.only_changed ?? false,
    compare,
    given_names: namesOf(given),
    options: {
      ...originalOptions(original),
      ...defined(optionsOf(request)),
      bypass_cache: request.bypass_cache ?? false,
      variables: mergeValues(originalValues, given.variables),
      prompted_values: given.prompted_values,
    },
    // Its values may be secrets of its environment, which must not run in another one for somebody who may not deploy there.
    ...(Object.keys(head.override_variables).length === 0
      ? {}
      : { repeats: { kind: 'deployment', environment_ids: original.environment_ids, source } }),
    sensitive: Object.keys(head.override_variables).filter((name) => isSealed(head.override_variables[name])),
  }
}

/**
 * If a record of the original is gone, the error is a conflict. If an id of this request is unknown, the error is NOT_FOUND.
 */
export function missingInRedeploy(request: RedeployCommand['request'], missing: MissingRecord[]): Problem {
  const isGiven = ({ path }: MissingRecord) =>
    (path === '/environment_id' && request.environment_id !== undefined) ||
    (path.startsWith('/target_ids') && request.target_ids !== undefined)
  const given = missing.filter(isGiven)
  if (given.length > 0) return missingRecords(given)
  const gone = missing.map(({ path, id }) => `${path.split('/')[1]?.replace(/_ids?$/, '')} ${id}`).join(', ')
  return conflict(`The original deployment cannot be repeated: these records no longer exist: ${gone}`)
}

function targetsOf(
  { target_ids, target_tags, only_failed_targets }: RedeployCommand['request'],
  { selection, incomplete_target_ids }: OriginalDeployment,
): Pick<PlanningRequest, 'target_ids' | 'target_tags' | 'target_tags_match_all'> {
  const replaced = target_ids !== undefined || target_tags !== undefined
  if (only_failed_targets) {
    const refuse = (message: string) => validationProblem([{ path: '/only_failed_targets', message }])
    if (replaced) throw refuse('chooses the targets by itself: leave target_ids and target_tags out')
    if (incomplete_target_ids.length === 0) throw refuse('every target of the original deployment is complete')
    return { target_ids: incomplete_target_ids, target_tags: [], target_tags_match_all: false }
  }
  const { target_tags_match_all } = selection
  if (replaced) return { target_ids: target_ids ?? [], target_tags: target_tags ?? [], target_tags_match_all }
  return { target_ids: selection.target_ids, target_tags: selection.target_tags, target_tags_match_all }
}

/**
 * The settings of the original request. The plan stores only the resulting timeouts and retries. If all actions have the same,
 * the request may have set them. Otherwise they come from the definitions, whose versions are pinned.
 */
function originalOptions({ plan_head: { options }, actions }: OriginalDeployment): PlanningRequest['options'] {
  const { timeout_seconds, max_retries, ...rest } = options
  return {
    ...rest,
    ...(actions.every((action) => action.timeout_seconds === timeout_seconds) ? { timeout_seconds } : {}),
    ...(actions.every((action) => action.max_retries === max_retries) ? { max_retries } : {}),
  }
}

function defined<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>
}
