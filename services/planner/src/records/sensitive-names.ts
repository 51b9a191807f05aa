import { nullable, type Queryable, statement, text, uuid } from '@slipway/database'

/** A text that changes whenever a version is published. */
const readPublished = statement({
  name: 'planner.source-versions.state',
  row: { state: text },
  sql: `SELECT count(*) || ' ' || coalesce(max(created_at), 'epoch') AS state FROM source_versions`,
})

const findSensitiveNames = statement({
  name: 'planner.sensitive-names.find',
  row: { tenant_id: nullable(uuid), name: text },
  sql: 'SELECT DISTINCT s.tenant_id, n.name FROM sensitive_names n JOIN sources s ON s.id = n.source_id',
})

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
