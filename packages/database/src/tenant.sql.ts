import { statement } from './sql/statement.ts'
import { text } from './sql/types.ts'

/** Until the end of the transaction, sees the rows of this tenant alone, or of `ALL_TENANTS`. */
export const seeTenant = statement({
  name: 'database.tenant.see',
  parameters: { tenant: text },
  row: { set_config: text },
  sql: `SELECT set_config('slipway.tenant', :tenant, true)`,
})

/** The same for a connection, until it is told otherwise. */
export const seeTenantOnConnection = statement({
  name: 'database.tenant.see-on-connection',
  parameters: { tenant: text },
  row: { set_config: text },
  sql: `SELECT set_config('slipway.tenant', :tenant, false)`,
})
