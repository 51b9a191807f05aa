import type { Answer } from '@slipway/client'
import { type Kind, parseKind } from '../../components/source-kinds.ts'
import type { Search } from '../../components/use-address.ts'

/** Stands for a secret in answers of the API. */
const SECRET = '***'

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
  /** `environment`: all enabled targets of the environment. */
  targetsBy: 'environment' | 'tags' | 'ids'
  targetIds: string[]
  tags: Pair[]
  matchAll: boolean
  values: Record<string, RawValue>
  otherVariables: Pair[]
  /** The values of the deployment that filled the form, without secrets. Those that the version does not declare are sent as they are. */
  repeated: Record<string, unknown>
  /** Secrets of the deployment that filled the form. The API does not show them, so they must be typed again or left out. */
  asked: string[]
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
  /** Leaves out the targets that have these versions and values already. */
  onlyChanged: boolean
}

export interface VersionsOf {
  deploymentId: string
  version: string
  /** Where that deployment is in force; null: not known. */
  environmentId: string | null
}

export type ChangeForm = (changes: Partial<Form>) => void

/** The form as the address of the screen asks for it. */
export function formFromAddress(search: Search): Form {
  const targetIds = [...new Set((search['targets'] ?? '').split(',').filter((id) => id !== ''))]
  const environmentId = search['environment'] ?? null
  const tenantId = search['tenant'] ?? null
  return {
    kind: parseKind(search['kind']) ?? 'solution',
    sourceId: search['id'] ?? null,
    version: search['version'] ?? '',
    versionsOf: null,
    targetsBy: targetIds.length === 0 && environmentId !== null ? 'environment' : 'ids',
    targetIds,
    tags: [{ row: 0, key: '', value: '' }],
    matchAll: false,
    values: {},
    otherVariables: [],
    repeated: {},
    asked: [],
    environmentId,
    tenantId,
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
    onlyChanged: false,
  }
}

/** What fills a form besides the address. */
interface Sources {
  search: Search
  ownTenant: string | null
  /** The last deployment of the source in the environment. */
  last?: Answer<'getDeployment'> | undefined
  /** The deployment whose versions are taken. */
  versionsOf?: Answer<'getDeployment'> | undefined
  promotion?: Answer<'getPromotion'> | undefined
}

/**
 * The form of a link that names source and environment: strategy, tags and variables are those of the last deployment there. Without
 * tags it is for all targets of the environment: the last deployment may have been a retry on a few.
 */
export function formFromPlace({ search, ownTenant, last, versionsOf, promotion }: Sources): Form {
  const asked = formFromAddress(search)
  const filled = last === undefined ? asked : formFromDeployment(last, ownTenant)
  return {
    ...filled,
    targetsBy: filled.targetsBy === 'tags' ? 'tags' : asked.targetsBy,
    targetIds: [],
    tenantId: asked.tenantId,
    kind: asked.kind,
    sourceId: asked.sourceId,
    version: asked.version,
    versionsOf: versionsOf === undefined ? promotedVersions(search, promotion) : versionsFrom(versionsOf),
    environmentId: asked.environmentId,
    startAt: asked.startAt,
    ...(asked.targetIds.length > 0 ? { targetsBy: 'ids', targetIds: asked.targetIds } : {}),
    // A promotion goes where the source is.
    ...(promotion === undefined || promotion.target_ids.length === 0
      ? {}
      : { targetsBy: 'ids', targetIds: promotion.target_ids }),
  }
}

function promotedVersions(search: Search, promotion: Answer<'getPromotion'> | undefined): VersionsOf | null {
  if (promotion === undefined || promotion.deployment_id === null || promotion.version === null) return null
  const environmentId = search['from_environment'] ?? null
  return { deploymentId: promotion.deployment_id, version: promotion.version, environmentId }
}

function versionsFrom(deployment: Answer<'getDeployment'>): VersionsOf {
  const version = deployment[`${deployment.source_type}_version`]
  return { deploymentId: deployment.id, version: version ?? '', environmentId: deployment.environment_id }
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
  const variables = Object.entries(config.variables)
  const given = variables.filter(([, value]) => value !== SECRET)
  return {
    ...formFromAddress({}),
    kind: source_type,
    sourceId: deployment[`${source_type}_id`],
    targetsBy: byTag ? 'tags' : 'ids',
    targetIds: [...targetIds],
    ...(byTag ? { tags: [{ row: 0, ...tag }] } : {}),
    values: Object.fromEntries(given.map(([name, value]) => [name, rawValue(value)])),
    repeated: Object.fromEntries(given),
    asked: variables.flatMap(([name, value]) => (value === SECRET ? [name] : [])),
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
