import type { Queryable } from '@slipway/database'
import { countRunning, lockTenantsRunning } from './queue.sql.ts'

/** How many more deployments each tenant may start. Deployments without a tenant have no limit. */
export class TenantRoom {
  readonly #limit: number
  readonly #running: Map<string, number>

  constructor(limit: number, running: Map<string, number>) {
    this.#limit = limit
    this.#running = running
  }

  /** How many more deployments this tenant may start. */
  left(tenant: string | null): number {
    return tenant === null ? Number.POSITIVE_INFINITY : Math.max(0, this.#limit - (this.#running.get(tenant) ?? 0))
  }

  /** The tenants without room. */
  full(): string[] {
    return [...this.#running].flatMap(([tenant, running]) => (running >= this.#limit ? [tenant] : []))
  }

  /** Reserves room for one deployment of this tenant. Returns false if there is none. */
  take(tenant: string | null): boolean {
    if (tenant === null) return true
    const running = this.#running.get(tenant) ?? 0
    if (running >= this.#limit) return false
    this.#running.set(tenant, running + 1)
    return true
  }
}

/** Null if tenants have no limit. */
export async function tenantRoom(tx: Queryable): Promise<TenantRoom | null> {
  const rows = await countRunning.all(tx)
  const limit = rows[0]?.tenant_limit ?? null
  if (limit === null) return null
  return new TenantRoom(
    limit,
    new Map(rows.flatMap(({ tenant_id, running }) => (tenant_id === null ? [] : [[tenant_id, running ?? 0]]))),
  )
}

/** Locks tenants until the end of the transaction: no other transaction starts a deployment for them meanwhile. */
export async function lockTenants(tx: Queryable, tenants: readonly (string | null)[]): Promise<void> {
  const ids = [...new Set(tenants)].filter((tenant) => tenant !== null).sort()
  if (ids.length === 0) return
  await lockTenantsRunning.run(tx, { tenants: ids })
}
