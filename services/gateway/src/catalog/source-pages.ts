import type { Database } from '@slipway/database'
import type { SourceType } from '@slipway/domain'
import { type Viewer, visibleSql } from '../tenancy/visibility.ts'
import { containsPattern, type PageRows, type Slice } from './listing.ts'
import type { RecordKey } from './record-id.ts'

export interface SourceLine {
  id: string
  number: number
  name: string
  description: string | null
  tenant_id: string | null
  created_at: Date
  updated_at: Date
  /** The highest version that is no prerelease; null: there are prereleases only. */
  latest_version: string | null
}

export interface VersionLine {
  version: string
  created_at: Date
}

interface Selection {
  kind: SourceType
  viewer: Viewer
  search: string | undefined
}

/** Reads a page of sources with the latest version of each, newest source first. */
export function sourcePage(
  database: Database,
  { kind, viewer, search }: Selection,
  { skip, take }: Slice,
): Promise<PageRows<SourceLine>> {
  const where = `s.kind = $1::source_kind AND ${visibleSql('s', 2)} AND ($3::text IS NULL OR s.name ILIKE $3)`
  const selection = [kind, viewer.tenant_id, containsPattern(search)]
  return database.together(async (connection) => {
    const [counted, { rows }] = await Promise.all([
      connection.query<{ total: number }>(`SELECT count(*) AS total FROM sources s WHERE ${where}`, selection),
      connection.query<SourceLine>(
        `SELECT s.id, s.number, s.name, s.description, s.tenant_id, s.created_at, s.updated_at,
           (SELECT v.version FROM source_versions v WHERE v.source_id = s.id AND strpos(v.version, '-') = 0
            ORDER BY version_precedence(v.version) COLLATE "C" DESC LIMIT 1) AS latest_version
         FROM sources s WHERE ${where} ORDER BY s.created_at DESC, s.id DESC LIMIT $4 OFFSET $5`,
        [...selection, take, skip],
      ),
    ])
    return { total: counted.rows[0]?.total ?? 0, rows }
  })
}

/** Reads a page of the versions of one source, newest first; null: the viewer sees no such source. */
export function versionPage(
  database: Database,
  { kind, key, viewer, search }: Selection & { key: RecordKey },
  { skip, take }: Slice,
): Promise<PageRows<VersionLine> | null> {
  const [column, id] = 'id' in key ? (['id', key.id] as const) : (['number', key.number] as const)
  const source = `s.${column} = $1 AND s.kind = $2::source_kind AND ${visibleSql('s', 3)}`
  const matching = `FROM source_versions v WHERE v.source_id = s.id AND ($4::text IS NULL OR strpos(v.version, $4) > 0)`
  const selection = [id, kind, viewer.tenant_id, search ?? null]
  return database.together(async (connection) => {
    const [counted, { rows }] = await Promise.all([
      connection.query<{ total: number }>(
        `SELECT (SELECT count(*) ${matching}) AS total FROM sources s WHERE ${source}`,
        selection,
      ),
      connection.query<VersionLine>(
        `SELECT page.version, page.created_at FROM sources s, LATERAL (
           SELECT v.version, v.created_at ${matching}
           ORDER BY v.created_at DESC, version_precedence(v.version) COLLATE "C" DESC LIMIT $5 OFFSET $6) page
         WHERE ${source} ORDER BY page.created_at DESC, version_precedence(page.version) COLLATE "C" DESC`,
        [...selection, take, skip],
      ),
    ])
    const total = counted.rows[0]?.total
    return total === undefined ? null : { total, rows }
  })
}
