import type { Queryable } from '@slipway/database'

/** The names that some source declares sensitive: in shared sources and in those of the tenant. */
export type SensitiveNamesOf = (tenantId: string | null) => ReadonlySet<string>

export interface SensitiveNames {
  /** As they are now. */
  read(db: Queryable): Promise<SensitiveNamesOf>
}

const SHARED = ''

/**
 * A tenant's, environment's or target's variable may be declared sensitive by another source than the one deployed; its
 * value is a secret all the same. Published versions never change, so what was read holds until there are others.
 */
export function createSensitiveNames(): SensitiveNames {
  let readAt = ''
  let byTenant = new Map<string, Set<string>>()

  async function readAll(db: Queryable): Promise<Map<string, Set<string>>> {
    const { rows } = await db.query<{ tenant_id: string | null; name: string }>(
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
    async read(db) {
      // Read before the names, so that a version published in between is noticed next time.
      const { rows } = await db.query<{ state: string }>(
        `SELECT count(*) || ' ' || coalesce(max(created_at), 'epoch') AS state FROM source_versions`,
        [],
      )
      const state = rows[0]?.state ?? ''
      if (state !== readAt) {
        byTenant = await readAll(db)
        readAt = state
      }
      const known = byTenant
      return (tenantId) => {
        const shared = known.get(SHARED) ?? new Set<string>()
        const own = tenantId === null ? undefined : known.get(tenantId)
        return own === undefined ? shared : new Set([...shared, ...own])
      }
    },
  }
}
