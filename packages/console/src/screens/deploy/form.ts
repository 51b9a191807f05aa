import type { Kind } from '../sources/kinds.ts'

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
}

export type ChangeForm = (changes: Partial<Form>) => void

/** The form as the address of the screen asks for it. */
export function formFromAddress(search: Record<string, string | undefined>, kind: Kind): Form {
  return {
    kind,
    sourceId: search['id'] ?? null,
    version: search['version'] ?? '',
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
  }
}
