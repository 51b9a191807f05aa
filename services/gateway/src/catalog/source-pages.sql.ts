import { int4, int8, nullable, sourceKind, statement, text, timestamptz, uuid } from '@slipway/database'
import { visibleSql } from '@slipway/database/read-models'
import { afterNewerSql, ordersOf, pageColumns, sortedName } from '../pages.sql.ts'
import { amongColumns, isAmongSql } from '../records/filters.sql.ts'

const selection = {
  kind: sourceKind,
  tenant_id: nullable(uuid),
  pattern: nullable(text),
  searched_key: nullable(text),
  managed_by: nullable(text),
  ...amongColumns,
}
const SELECTED = `s.kind = :kind AND ${visibleSql('s')} AND (:pattern::text IS NULL OR s.name ILIKE :pattern OR s.name_key = :searched_key)
  AND (:managed_by::text IS NULL OR s.managed_by = :managed_by) AND ${isAmongSql('s')}`

export const countSources = statement({
  name: 'gateway.sources.count',
  parameters: selection,
  row: { total: int8 },
  sql: `SELECT count(*) AS total FROM sources s WHERE ${SELECTED}`,
})

const LINE = {
  id: uuid,
  number: int4,
  name: text,
  description: nullable(text),
  tenant_id: nullable(uuid),
  managed_by: nullable(text),
  created_at: timestamptz,
  updated_at: timestamptz,
  latest_version: nullable(text),
}

/** SQL: sources, each with its highest version that is not a prerelease. */
const LINES = `SELECT s.id, s.number, s.name, s.description, s.tenant_id, s.managed_by, s.created_at, s.updated_at,
       (SELECT v.version FROM source_versions v WHERE v.source_id = s.id AND strpos(v.version, '-') = 0
         ORDER BY version_precedence(v.version) COLLATE "C" DESC LIMIT 1) AS latest_version
      FROM sources s WHERE ${SELECTED}`

/** Newest first. */
export const findSources = statement({
  name: 'gateway.sources.find-page',
  parameters: { ...selection, ...pageColumns },
  row: LINE,
  sql: `${LINES} AND ${afterNewerSql('s')} ORDER BY s.created_at DESC, s.id DESC LIMIT :take OFFSET :skip`,
})

/** The same pages in another order, by `sort`. */
export const findSortedSources = new Map(
  ordersOf({ name: 's.name', created_at: 's.created_at', updated_at: 's.updated_at' }, 's.id').map(([sort, order]) => [
    sort,
    statement({
      name: sortedName('gateway.sources.find-page', sort),
      parameters: { ...selection, take: pageColumns.take, skip: pageColumns.skip },
      row: LINE,
      sql: `${LINES} ORDER BY ${order} LIMIT :take OFFSET :skip`,
    }),
  ]),
)

/** The source has the id or the number. */
const ofSource = {
  id: nullable(uuid),
  number: nullable(int4),
  kind: sourceKind,
  tenant_id: nullable(uuid),
  search: nullable(text),
}
const SOURCE = `(s.id = :id OR s.number = :number) AND s.kind = :kind AND ${visibleSql('s')}`
const MATCHING = `FROM source_versions v WHERE v.source_id = s.id AND (:search::text IS NULL OR strpos(v.version, :search) > 0)`

/** No row if the viewer sees no such source. */
export const countVersions = statement({
  name: 'gateway.sources.count-versions',
  parameters: ofSource,
  row: { total: int8 },
  sql: `SELECT (SELECT count(*) ${MATCHING}) AS total FROM sources s WHERE ${SOURCE}`,
})

const AFTER_VERSION =
  '(:after::text[] IS NULL OR (v.created_at, version_precedence(v.version) COLLATE "C") < ' +
  '((:after::text[])[1]::timestamptz, version_precedence((:after::text[])[2]) COLLATE "C"))'

export const findVersions = statement({
  name: 'gateway.sources.find-versions',
  parameters: { ...ofSource, ...pageColumns },
  row: { version: text, created_at: timestamptz },
  sql: `SELECT page.version, page.created_at FROM sources s, LATERAL (
       SELECT v.version, v.created_at ${MATCHING} AND ${AFTER_VERSION}
        ORDER BY v.created_at DESC, version_precedence(v.version) COLLATE "C" DESC LIMIT :take OFFSET :skip) page
     WHERE ${SOURCE} ORDER BY page.created_at DESC, version_precedence(page.version) COLLATE "C" DESC`,
})
