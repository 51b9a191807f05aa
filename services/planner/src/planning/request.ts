import type { CommandBody } from '@slipway/contracts'
import type { RowOf } from '@slipway/database'
import {
  isSealed,
  type PlanRequest,
  pinsOf,
  pointer,
  type SourcePin,
  type TargetTag,
  type TouchedByDeployment,
  type VariableValues,
  validationProblem,
} from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'
import type { findOriginal } from '../records/original.sql.ts'
import type { SourceReference } from '../records/sources.ts'

/** The input of planning, for a create, a preview and a redeploy. Ids are as the request writes them. */
export interface PlanningRequest {
  command_id: string
  caller: CommandBody<'plan.create'>['caller']
  source: SourceReference
  version_requirement: string | undefined
  /** The versions of a deployment, which must be of the same source. */
  pins?: Pins
  tenant_id: string | null
  environment_id: string | null
  target_ids: readonly string[]
  target_tags: readonly TargetTag[]
  target_tags_match_all: boolean
  options: PlanRequest
  /** Whether warnings about the request refuse it. */
  strict: boolean
  /** Whether targets with the same versions and values in force are left out. */
  only_changed: boolean
  /** Whether the answer compares the plan with what is in force. */
  compare: boolean
  /** Names of variables with values in this call. */
  given_names: readonly string[]
  /** Names that an earlier deployment sealed. Their values are sealed again. */
  sensitive?: readonly string[]
  /** The deployment whose values it carries over. The caller must have the right to deploy there as well. */
  repeats?: TouchedByDeployment
}

/** The versions in the plan of a deployment. */
export interface Pins {
  source_id: string
  versions: readonly SourcePin[]
}

export const pinsOfDeployment = ({ plan_head: { source }, actions }: RowOf<typeof findOriginal>): Pins => ({
  source_id: source.id,
  versions: pinsOf({ source, actions }),
})

/** The variables of a request. They may be secrets and are sealed in messages. */
export interface GivenValues {
  variables: VariableValues
  prompted_values: VariableValues
}

/**
 * Opens the values that the gateway sealed for this command.
 * @throws Problem VALIDATION_ERROR for a value that looks like a sealed value; SecretError
 */
export function openValues(keyRing: KeyRing, commandId: string, sealed: string | null): GivenValues {
  if (sealed === null) return { variables: {}, prompted_values: {} }
  const given = JSON.parse(keyRing.openText(sealed, `command:${commandId}`)) as Partial<GivenValues>
  const { variables = {}, prompted_values = {} } = given
  const errors = Object.entries({ variables, prompted_values }).flatMap(([field, values]) =>
    Object.keys(values)
      .filter((name) => isSealed(values[name]))
      .map((name) => ({ path: pointer(field, name), message: 'may not be an object with the key $sealed' })),
  )
  if (errors.length > 0) throw validationProblem(errors)
  return { variables, prompted_values }
}

export const namesOf = ({ variables, prompted_values }: GivenValues) =>
  Object.keys({ ...variables, ...prompted_values })

type CreateCommand = CommandBody<'plan.create'>

/** The request of a create or a preview. Without a tenant in the request, the tenant of the caller is used. */
export function createRequest(
  { command_id, caller, request }: CreateCommand,
  values: GivenValues,
  { compare, pins }: Pick<PlanningRequest, 'compare' | 'pins'>,
): PlanningRequest {
  return {
    command_id,
    caller,
    source: sourceOf(request),
    version_requirement: request.version_requirement,
    ...(pins === undefined ? {} : { pins }),
    tenant_id: request.tenant_id ?? caller.tenant_id,
    environment_id: request.environment_id ?? null,
    target_ids: request.target_ids ?? [],
    target_tags: request.target_tags ?? [],
    target_tags_match_all: request.target_tags_match_all ?? false,
    strict: request.strict ?? false,
    only_changed: request.only_changed ?? false,
    compare,
    given_names: namesOf(values),
    options: { ...optionsOf(request), deployment_timeout_seconds: request.deployment_timeout_seconds, ...values },
  }
}

/** The settings that a create and a redeploy share. */
export function optionsOf(request: CommandBody<'plan.redeploy'>['request']): PlanRequest {
  const { target_mode, failure_strategy, rollback_strategy, priority, timeout_seconds, max_retries, bypass_cache } =
    request
  return { target_mode, failure_strategy, rollback_strategy, priority, timeout_seconds, max_retries, bypass_cache }
}

function sourceOf(request: CreateCommand['request']): SourceReference {
  const given = (['solution', 'sequence', 'action'] as const).flatMap((type): SourceReference[] => {
    const id = request[`${type}_id`]
    return id === undefined ? [] : [{ type, id }]
  })
  const [source] = given
  if (source && given.length === 1) return source
  const message = 'give exactly one of solution_id, sequence_id and action_id'
  throw validationProblem([{ path: source ? `/${given[1]?.type}_id` : '/solution_id', message }])
}
