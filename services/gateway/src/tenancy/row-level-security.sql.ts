import { bool, statement } from '@slipway/database'

/** Whether the user of the connection bypasses row-level security. */
export const bypassesPolicies = statement({
  name: 'gateway.tenancy.bypasses-policies',
  row: { bypasses: bool },
  sql: 'SELECT rolsuper OR rolbypassrls AS bypasses FROM pg_roles WHERE rolname = current_user',
})
