import { statement } from './sql/statement.ts'
import { text } from './sql/types.ts'

/** Limits the transaction to the rows of this tenant. `ALL_TENANTS` removes the limit. */
export const seeTenant = statement({
  name: 'database.tenant.see',
  parameters: { tenant: text },
  row: { set_config: text },
  sql: `SELECT set_config('slipway.tenant', :tenant, true)`,
})

/** The same for the connection, until the next call. */
export const seeTenantOnConnection = statement({
  name: 'database.tenant.see-on-connection',
  parameters: { tenant: text },
  row: { set_config: text },
  sql: `SELECT set_config('slipway.tenant', :tenant, false)`,
})
