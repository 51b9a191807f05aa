import type { Database, Queryable, RowOf } from '@slipway/database'
import type { Viewer } from '@slipway/database/read-models'
import type { ListOrder, SourceType } from '@slipway/domain'
import { containsPattern, type PageRows, type Slice, searchedKey } from '../pages.ts'
import { idsFilter } from '../records/filters.ts'
import type { RecordKey } from '../records/references.ts'
import { countSources, countVersions, findSortedSources, findSources, findVersions } from './source-pages.sql.ts'

export type SourceLine = RowOf<typeof findSources>
export type VersionLine = RowOf<typeof findVersions>

export const NEWEST_VERSION_FIRST: ListOrder<VersionLine> = {
  list: 'versions',
  kinds: ['time', 'text'],
  keyOf: ({ created_at, version }) => [created_at.toISOString(), version],
}

interface Selection {
  kind: SourceType
  viewer: Viewer
  search: string | undefined
}

interface SourceQuery {
  managed_by: string | undefined
  ids: string | undefined
  /** Null: newest first. */
  sort: string | null
}

export function sourcePage(
  database: Database,
  { kind, viewer: { tenant_id }, search, managed_by, ids, sort }: Selection & SourceQuery,
  slice: Slice,
): Promise<PageRows<SourceLine>> {
  const searched = { pattern: containsPattern(search), searched_key: searchedKey(search) }
  const selection = { kind, tenant_id, ...searched, managed_by: managed_by ?? null, ...idsFilter(kind, ids) }
  const sorted = sort === null ? undefined : findSortedSources.get(sort)
  const find = (connection: Queryable) =>
    sorted?.all(connection, { ...selection, ...slice }) ?? findSources.all(connection, { ...selection, ...slice })
  return database.together(async (connection) => {
    const [{ total }, rows] = await Promise.all([countSources.one(connection, selection), find(connection)])
    return { total, rows }
  })
}

/** Reads a page of the versions of a source; null if the viewer sees no such source. */
export function versionPage(
  database: Database,
  { kind, key, viewer: { tenant_id }, search }: Selection & { key: RecordKey },
  slice: Slice,
): Promise<PageRows<VersionLine> | null> {
  const selection = { id: null, number: null, ...key, kind, tenant_id, search: search ?? null }
  return database.together(async (connection) => {
    const [counted, rows] = await Promise.all([
      countVersions.first(connection, selection),
      findVersions.all(connection, { ...selection, ...slice }),
    ])
    return counted && { total: counted.total, rows }
  })
}
