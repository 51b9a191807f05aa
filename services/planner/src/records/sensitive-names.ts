import type { Queryable } from '@slipway/database'

/** Tells which names some source declares sensitive. */
export interface SensitiveNames {
  /** All of them, in shared sources and in those of the tenant. */
  of(tenantId: string | null): Promise<ReadonlySet<string>>
}

const SHARED = ''

/**
 * A tenant's, environment's or target's variable may be declared sensitive by another source than the one deployed; its
 * value is a secret all the same. Published versions never change, so what was read holds until there are others.
 */
export function createSensitiveNames(database: Queryable): SensitiveNames {
  let readAt = ''
  let byTenant = new Map<string, Set<string>>()

  async function read(): Promise<Map<string, Set<string>>> {
    const { rows } = await database.query<{ tenant_id: string | null; name: string }>(
      `SELECT DISTINCT s.tenant_id, variable ->> 'name' AS name
         FROM source_versions v
         JOIN sources s ON s.id = v.source_id
        CROSS JOIN LATERAL jsonb_array_elements(v.definition -> 'variables') AS variable
        WHERE variable -> 'sensitive' = 'true'`,
    )
    const names = new Map<string, Set<string>>()
    for (const { tenant_id, name } of rows) {
      const tenant = tenant_id ?? SHARED
      names.set(tenant, (names.get(tenant) ?? new Set()).add(name))
    }
    return names
  }

  return {
    async of(tenantId) {
      // Read before the names, so that a version published in between is noticed next time.
      const { rows } = await database.query<{ state: string }>(
        `SELECT count(*) || ' ' || coalesce(max(created_at), 'epoch') AS state FROM source_versions`,
      )
      const state = rows[0]?.state ?? ''
      if (state !== readAt) {
        byTenant = await read()
        readAt = state
      }
      const shared = byTenant.get(SHARED) ?? new Set<string>()
      const own = tenantId === null ? undefined : byTenant.get(tenantId)
      return own === undefined ? shared : new Set([...shared, ...own])
    },
  }
}
