import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { seeTenantOnConnection } from './tenant.sql.ts'

/** Sees the rows of all tenants: a value of `slipway.tenant`, which the policies of row-level security read. */
export const ALL_TENANTS = '*'
/** Sees no tenant's rows: what a connection has until it is told more. */
const NO_TENANT = ''

const current = new AsyncLocalStorage<string>()

/**
 * Runs `work` for somebody of this tenant, null for somebody who is bound to none and sees all. Whatever it sends to a
 * database made with `tenant: 'current'` can then touch no other tenant's rows, through Prisma and plain SQL alike.
 */
export function forTenant<T>(tenantId: string | null, work: () => T): T {
  return current.run(tenantId ?? ALL_TENANTS, work)
}

/** Runs `work` for nobody in particular: finding out who calls, or keeping house. */
export function forAllTenants<T>(work: () => T): T {
  return current.run(ALL_TENANTS, work)
}

/** The option that sets a connection's tenant from its start. */
export const tenantOption = (tenant: string) => `-c slipway.tenant=${tenant}`

type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: (e?: unknown) => void) => void

/**
 * A pool whose connections act for the tenant of whoever asks for one. Those who see all have connections apart, so
 * that finding out who calls (all tenants) and serving the call (one) do not undo each other's setting.
 */
export class TenantPool extends pg.Pool {
  readonly #all: pg.Pool
  /** What each connection is set to. One that is not in here is new and sees nothing. */
  readonly #settings = new WeakMap<object, string>()

  constructor(config: pg.PoolConfig & { options: string }) {
    super({ ...config, options: `${config.options} ${tenantOption(NO_TENANT)}` })
    this.#all = new pg.Pool({ ...config, options: `${config.options} ${tenantOption(ALL_TENANTS)}` })
    this.#all.on('error', (error, client) => this.emit('error', error, client))
  }

  /** This pool, and the one of callers who see all. */
  get pools(): pg.Pool[] {
    return [this, this.#all]
  }

  // pg.Pool.query comes through here too.
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
      // What it is set to is not known any more, so nobody may have it.
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
