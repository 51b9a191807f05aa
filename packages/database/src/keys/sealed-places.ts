/** A column that holds secrets: as one sealed text, or anywhere in JSON as `{"$sealed": …}`. */
export interface SealedPlace {
  table: string
  /** Columns of the primary key with their types, in its order. */
  key: Record<string, 'uuid' | 'text' | 'integer'>
  column: string
  json: boolean
  /** Whether each row has a secret. */
  required: boolean
  /** Rows that are looked at, and changed, in one transaction: few enough not to hold up a service or fill the memory. */
  batch: number
}

const text = (table: string, column: string, key: SealedPlace['key'] = { id: 'uuid' }): SealedPlace => ({
  table,
  key,
  column,
  json: false,
  required: false,
  batch: 500,
})
const json = (table: string, column: string, rest: Partial<SealedPlace> = {}): SealedPlace => ({
  ...text(table, column),
  json: true,
  ...rest,
})

/**
 * Every place in the database where secrets stand. Definitions first: what is planned while keys change is sealed by
 * services that have the new key already.
 */
export const SEALED_PLACES: readonly SealedPlace[] = [
  text('users', 'totp_sealed'),
  text('tenants', 'variables_sealed'),
  text('environments', 'variables_sealed'),
  text('targets', 'variables_sealed'),
  text('targets', 'connection_secrets'),
  text('source_versions', 'secrets', { source_id: 'uuid', version: 'text' }),
  { ...text('webhooks', 'secret_sealed'), required: true },
  { ...text('agents', 'key_sealed'), required: true },
  // Each holds a whole plan.
  json('pending_requests', 'command', { batch: 10 }),
  json('deployments', 'plan_head'),
  json('deployment_actions', 'variables', { key: { deployment_id: 'uuid', action_index: 'integer' } }),
  json('deployment_targets', 'variables', { key: { deployment_id: 'uuid', target_index: 'integer' } }),
]
