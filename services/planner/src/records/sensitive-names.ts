import type { Queryable } from '@slipway/database'
import { findSensitiveNames, readPublished } from './sensitive-names.sql.ts'

/** The names that some source declares sensitive, among shared sources and those of the tenant. */
type SensitiveNamesOf = (tenantId: string | null) => ReadonlySet<string>

export interface SensitiveNames {
  /** Reads the present names. */
  read(db: Queryable): Promise<SensitiveNamesOf>
}

const SHARED = ''

/**
 * Values are sealed under a name that any source declares sensitive, not only the deployed one. Published versions never
 * change, so the names stay valid until the next version is published.
 */
export function createSensitiveNames(): SensitiveNames {
  let readAt = ''
  let byTenant = new Map<string, Set<string>>()

  async function readAll(db: Queryable): Promise<Map<string, Set<string>>> {
    const names = new Map<string, Set<string>>()
    for (const { tenant_id, name } of await findSensitiveNames.all(db)) {
      const tenant = tenant_id ?? SHARED
      names.set(tenant, (names.get(tenant) ?? new Set()).add(name))
    }
    return names
  }

  return {
    async read(db) {
      // Read before the names: the next call notices a version that is published in between.
      const { state } = await readPublished.one(db)
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
