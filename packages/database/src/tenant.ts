import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
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
const seeTenantOnConnection = statement({
  name: 'database.tenant.see-on-connection',
  parameters: { tenant: text },
  row: { set_config: text },
  sql: `SELECT set_config('slipway.tenant', :tenant, false)`,
})

/** The value of `slipway.tenant` with which the policies of row-level security show the rows of all tenants. */
export const ALL_TENANTS = '*'
/** Shows the rows of no tenant. New connections start with it. */
const NO_TENANT = ''

const current = new AsyncLocalStorage<string>()

/**
 * Runs `work` for a caller of this tenant; null for a caller who belongs to no tenant and sees all. On a database with `tenant:
 * 'current'`, the work sees only the rows of this tenant, in Prisma and in statements.
 */
export function forTenant<T>(tenantId: string | null, work: () => T): T {
  return current.run(tenantId ?? ALL_TENANTS, work)
}

/** Runs `work` for no particular caller: authentication and periodic tasks. */
export function forAllTenants<T>(work: () => T): T {
  return current.run(ALL_TENANTS, work)
}

/** The option that sets the tenant of a connection from its start. */
export const tenantOption = (tenant: string) => `-c slipway.tenant=${tenant}`

type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: (e?: unknown) => void) => void

/**
 * A pool with a tenant per connection. Callers who see all tenants have separate connections: otherwise authentication (all
 * tenants) and the call (one tenant) would change the setting for each other.
 */
export class TenantPool extends pg.Pool {
  readonly #all: pg.Pool
  /** The tenant of each connection. A connection that is not in the map is new and sees no rows. */
  readonly #settings = new WeakMap<object, string>()

  constructor(config: pg.PoolConfig & { options: string }) {
    super({ ...config, options: `${config.options} ${tenantOption(NO_TENANT)}` })
    this.#all = new pg.Pool({ ...config, options: `${config.options} ${tenantOption(ALL_TENANTS)}` })
    this.#all.on('error', (error, client) => this.emit('error', error, client))
  }

  /** This pool, and the pool of callers who see all tenants. */
  get pools(): pg.Pool[] {
    return [this, this.#all]
  }

  // pg.Pool.query calls this method too.
  override connect(): Promise<pg.PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const connecting = this.#connect(current.getStore() ?? NO_TENANT)
    if (callback === undefined) return connecting
    connecting.then(
      (client) => callback(undefined, client, (error) => client.release(error as Error | undefined)),
      (error: Error) => callback(error, undefined, () => {}),
    )
    return undefined
  }

  async #connect(tenant: string): Promise<pg.PoolClient> {
    if (tenant === ALL_TENANTS) return this.#all.connect()
    const client = await super.connect()
    if ((this.#settings.get(client) ?? NO_TENANT) === tenant) return client
    try {
      await seeTenantOnConnection.run(client, { tenant })
    } catch (error) {
      // The tenant of the connection is unknown now, so the pool must not reuse it.
      client.release(true)
      throw error
    }
    this.#settings.set(client, tenant)
    return client
  }

  override async end(): Promise<void> {
    await Promise.all([super.end(), this.#all.ended ? undefined : this.#all.end()])
  }
}
