import type { Queryable } from '@slipway/database'

/** The names that some source declares sensitive: in shared sources and in those of the tenant. */
export type SensitiveNamesOf = (tenantId: string | null) => ReadonlySet<string>

export interface SensitiveNames {
  /** As they are now. */
  read(db: Queryable): Promise<SensitiveNamesOf>
}

const SHARED = ''

/**
 * Another source than the deployed one may declare a name sensitive. Its values are sealed in this deployment, too.
 * Published versions never change, so the names stay valid until another version is published.
 */
export function createSensitiveNames(): SensitiveNames {
  let readAt = ''
  let byTenant = new Map<string, Set<string>>()

  async function readAll(db: Queryable): Promise<Map<string, Set<string>>> {
    const { rows } = await db.query<{ tenant_id: string | null; name: string }>(
      'SELECT DISTINCT s.tenant_id, n.name FROM sensitive_names n JOIN sources s ON s.id = n.source_id',
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
