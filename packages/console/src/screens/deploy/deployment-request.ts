import type { Schema } from '@slipway/client'
import type { Form, Pair } from './form.ts'
import { givenValues, placeholderValues, undeclaredValues, type Variable } from './variable-values.ts'

type Request = Schema<'CreateDeployment'>

/** The request that only counts targets and resolves the version; null while the source or the targets are missing. */
export function countingRequest(
  form: Form,
  variables: readonly Variable[],
  inEnvironment: readonly string[],
): Request | null {
  const selection = selectionOf(form, inEnvironment)
  return selection === null ? null : { ...selection, variables: placeholderValues(variables) }
}

/**
 * The request of the whole form; null while the source or the targets are missing.
 * @param inEnvironment the ids of the enabled targets of the environment
 */
export function deploymentRequest(
  form: Form,
  variables: readonly Variable[],
  inEnvironment: readonly string[],
): Request | null {
  const selection = selectionOf(form, inEnvironment)
  if (selection === null) return null
  const isPrompted = ({ prompted }: Variable) => prompted === true
  return {
    ...selection,
    variables: {
      ...undeclaredValues(form, variables),
      ...valuesOf(form.otherVariables),
      ...givenValues(
        variables.filter((variable) => !isPrompted(variable)),
        form.values,
      ),
    },
    prompted_values: givenValues(variables.filter(isPrompted), form.values),
    target_mode: form.targetMode === 'rolling' ? { rolling: { batch_size: Number(form.batchSize) } } : form.targetMode,
    failure_strategy: form.failureStrategy,
    rollback_strategy: form.rollbackStrategy,
    ...numbersOf({
      priority: form.priority,
      timeout_seconds: form.timeoutSeconds,
      max_retries: form.maxRetries,
      deployment_timeout_seconds: form.deploymentTimeoutSeconds,
    }),
    ...(form.bypassCache ? { bypass_cache: true } : {}),
    ...(form.onlyChanged ? { only_changed: true } : {}),
    ...(form.startAt === '' ? {} : { start_at: form.startAt }),
    ...(form.expiresAt === '' ? {} : { expires_at: form.expiresAt }),
  }
}

function selectionOf(form: Form, inEnvironment: readonly string[]): Request | null {
  const { kind, sourceId, version, versionsOf, tenantId, environmentId } = form
  const targets = targetsOf(form, inEnvironment)
  if (sourceId === null || targets === null) return null
  return {
    [`${kind}_id`]: sourceId,
    ...(versionsOf === null ? requirementOf(version) : { versions_of: versionsOf.deploymentId }),
    ...targets,
    ...(tenantId === null ? {} : { tenant_id: tenantId }),
    ...(environmentId === null ? {} : { environment_id: environmentId }),
  }
}

function targetsOf(form: Form, inEnvironment: readonly string[]) {
  if (form.targetsBy === 'tags') {
    const tags = form.tags.filter(({ key }) => key !== '').map(({ key, value }) => ({ key, value }))
    return tags.length === 0 ? null : { target_tags: tags, target_tags_match_all: form.matchAll }
  }
  const ids = form.targetsBy === 'environment' ? inEnvironment : form.targetIds
  return ids.length === 0 ? null : { target_ids: [...ids] }
}

const requirementOf = (version: string) => (version.trim() === '' ? {} : { version_requirement: version.trim() })

const valuesOf = (pairs: readonly Pair[]) =>
  Object.fromEntries(pairs.filter(({ key }) => key !== '').map(({ key, value }) => [key, value]))

const numbersOf = (numbers: Record<string, number | string>) =>
  Object.fromEntries(
    Object.entries(numbers)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [name, Number(value)]),
  )
