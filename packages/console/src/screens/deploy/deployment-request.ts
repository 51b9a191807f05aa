import type { Schema } from '@slipway/client'
import type { Form, Pair } from './form.ts'
import { givenValues, placeholderValues, type Variable } from './variable-values.ts'

type Request = Schema<'CreateDeployment'>

/** The request that only counts targets and resolves the version; null while the source or the targets are missing. */
export function countingRequest(form: Form, variables: readonly Variable[]): Request | null {
  const selection = selectionOf(form)
  return selection === null ? null : { ...selection, variables: placeholderValues(variables) }
}

/** The request of the whole form; null while the source or the targets are missing. */
export function deploymentRequest(form: Form, variables: readonly Variable[]): Request | null {
  const selection = selectionOf(form)
  if (selection === null) return null
  const isPrompted = ({ prompted }: Variable) => prompted === true
  return {
    ...selection,
    variables: {
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
    ...(form.startAt === '' ? {} : { start_at: form.startAt }),
    ...(form.expiresAt === '' ? {} : { expires_at: form.expiresAt }),
  }
}

function selectionOf(form: Form): Request | null {
  const { kind, sourceId, version, versionsOf, targetsBy, targetIds, matchAll, tenantId, environmentId } = form
  const tags = form.tags.filter(({ key }) => key !== '').map(({ key, value }) => ({ key, value }))
  if (sourceId === null || (targetsBy === 'ids' ? targetIds : tags).length === 0) return null
  return {
    [`${kind}_id`]: sourceId,
    ...(versionsOf === null ? requirementOf(version) : { versions_of: versionsOf.deploymentId }),
    ...(targetsBy === 'ids' ? { target_ids: targetIds } : { target_tags: tags, target_tags_match_all: matchAll }),
    ...(tenantId === null ? {} : { tenant_id: tenantId }),
    ...(environmentId === null ? {} : { environment_id: environmentId }),
  }
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
