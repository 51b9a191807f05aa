import type { Answer } from '@slipway/client'
import type { Kind } from '../../components/source-kinds.ts'

/** A key or name with its value; `row` identifies the row while its texts change. */
export interface Pair {
  row: number
  key: string
  value: string
}

/** The text of an input, or the entries of a list. */
export type RawValue = string | string[]

/** Everything a person can choose. Empty text means: not given, so the server's default applies. */
export interface Form {
  kind: Kind
  sourceId: string | null
  version: string
  /** Takes the versions of an earlier deployment, in place of `version`. */
  versionsOf: VersionsOf | null
  targetsBy: 'ids' | 'tags'
  targetIds: string[]
  tags: Pair[]
  matchAll: boolean
  values: Record<string, RawValue>
  otherVariables: Pair[]
  environmentId: string | null
  tenantId: string | null
  targetMode: 'sequential' | 'parallel' | 'rolling'
  batchSize: number | string
  failureStrategy: 'stop_on_first_failure' | 'continue_on_failure' | 'ignore_failures'
  rollbackStrategy: 'none' | 'failed_target_only' | 'all_executed'
  priority: number | string
  timeoutSeconds: number | string
  maxRetries: number | string
  deploymentTimeoutSeconds: number | string
  bypassCache: boolean
  startAt: string
  expiresAt: string
}

export interface VersionsOf {
  deploymentId: string
  version: string
  /** Where that deployment is in force. */
  environmentId: string
}

export type ChangeForm = (changes: Partial<Form>) => void

/** The form as the address of the screen asks for it. */
export function formFromAddress(search: Record<string, string | undefined>, kind: Kind): Form {
  return {
    kind,
    sourceId: search['id'] ?? null,
    version: search['version'] ?? '',
    versionsOf: null,
    targetsBy: 'ids',
    targetIds: [...new Set((search['targets'] ?? '').split(',').filter((id) => id !== ''))],
    tags: [{ row: 0, key: '', value: '' }],
    matchAll: false,
    values: {},
    otherVariables: [],
    environmentId: search['environment'] ?? null,
    tenantId: null,
    targetMode: 'sequential',
    batchSize: 1,
    failureStrategy: 'stop_on_first_failure',
    rollbackStrategy: 'none',
    priority: '',
    timeoutSeconds: '',
    maxRetries: '',
    deploymentTimeoutSeconds: '',
    bypassCache: false,
    startAt: search['start_at'] ?? '',
    expiresAt: '',
  }
}

/** The form that deploys what is in force in one environment to the targets of another one that have the source. */
export function formFromPromotion(
  search: Record<string, string | undefined>,
  kind: Kind,
  { version, deployment_id, target_ids }: Answer<'getPromotion'>,
): Form {
  const versionsOf =
    deployment_id === null || version === null
      ? null
      : { deploymentId: deployment_id, version, environmentId: search['from_environment'] ?? '' }
  return { ...formFromAddress(search, kind), versionsOf, targetIds: target_ids }
}

/**
 * The form as an earlier deployment was started: everything but its version. Its timeouts and retries are left out too,
 * because the record does not say whether the request or the actions gave them. Secrets must be typed again.
 * The tenant of the user is left out: the server adds it, and a request that names a tenant also needs an environment.
 */
export function formFromDeployment(deployment: Answer<'getDeployment'>, ownTenant: string | null): Form {
  const { config, plan, source_type } = deployment
  const [tag, ...otherTags] = config.target_tags
  // With several tags, the record does not say whether targets had to have all of them. Its targets are known.
  const byTag = tag !== undefined && otherTags.length === 0 && config.target_ids.length === 0
  const targetIds = new Set(byTag ? [] : [...config.target_ids, ...(plan?.steps ?? []).map((step) => step.target_id)])
  const given = Object.entries(config.variables).filter(([, value]) => value !== '***')
  return {
    ...formFromAddress({}, source_type),
    sourceId: deployment[`${source_type}_id`],
    targetsBy: byTag ? 'tags' : 'ids',
    targetIds: [...targetIds],
    ...(byTag ? { tags: [{ row: 0, ...tag }] } : {}),
    values: Object.fromEntries(given.map(([name, value]) => [name, rawValue(value)])),
    environmentId: config.environment_id,
    tenantId: config.tenant_id === ownTenant ? null : config.tenant_id,
    targetMode: typeof config.target_mode === 'string' ? config.target_mode : 'rolling',
    batchSize: typeof config.target_mode === 'string' ? 1 : config.target_mode.rolling.batch_size,
    failureStrategy: config.failure_strategy,
    rollbackStrategy: config.rollback_strategy,
    priority: config.priority === 0 ? '' : config.priority,
  }
}

function rawValue(value: unknown): RawValue {
  if (typeof value === 'string') return value
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : JSON.stringify(value)
}
