import { type Resolve, Semaphore } from '@slipway/runtime'

/** Node resolves four names at a time, and a name server may let a lookup hang for half a minute. */
const MAX_OF_TENANT = 1

/** Resolves names for tenants, so that names of one tenant that hang leave threads for those of others. */
export class TenantLookups {
  readonly #resolve: Resolve
  readonly #tenants = new Map<string | null, { turns: Semaphore; pending: Map<string, ReturnType<Resolve>> }>()

  constructor(resolve: Resolve) {
    this.#resolve = resolve
  }

  /** Lookups of a tenant follow each other. Lookups of the same name at the same time are one. */
  of(tenantId: string | null): Resolve {
    return (host) => {
      const tenant = this.#tenants.get(tenantId) ?? { turns: new Semaphore(MAX_OF_TENANT), pending: new Map() }
      this.#tenants.set(tenantId, tenant)
      const same = tenant.pending.get(host)
      if (same !== undefined) return same
      const lookup = tenant.turns
        .run(() => this.#resolve(host))
        .finally(() => {
          tenant.pending.delete(host)
          if (tenant.pending.size === 0) this.#tenants.delete(tenantId)
        })
      tenant.pending.set(host, lookup)
      return lookup
    }
  }
}
