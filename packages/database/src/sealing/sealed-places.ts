/** A column with secrets: one sealed text, or JSON with `{"$sealed": …}` at any depth. */
export interface SealedPlace {
  table: string
  /** The columns of the primary key with their types, in order. */
  key: Record<string, 'uuid' | 'text' | 'integer'>
  column: string
  json: boolean
  /** Whether each row has a secret. */
  required: boolean
  /** How many rows one transaction reads and changes. Few enough not to block a service or fill the memory. */
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

/** Every column with secrets. Definitions are first: services that plan meanwhile already seal with the new key. */
export const SEALED_PLACES: readonly SealedPlace[] = [
  text('users', 'totp_sealed'),
  text('tenants', 'variables_sealed'),
  text('environments', 'variables_sealed'),
  text('targets', 'variables_sealed'),
  text('targets', 'connection_secrets'),
  text('source_versions', 'secrets', { source_id: 'uuid', version: 'text' }),
  { ...text('webhooks', 'secret_sealed'), required: true },
  { ...text('agents', 'key_sealed'), required: true },
  // Each row contains a whole plan.
  json('pending_requests', 'command', { batch: 10 }),
  json('deployments', 'plan_head'),
  json('deployment_actions', 'variables', { key: { deployment_id: 'uuid', action_index: 'integer' } }),
  json('deployment_targets', 'variables', { key: { deployment_id: 'uuid', target_index: 'integer' } }),
]
