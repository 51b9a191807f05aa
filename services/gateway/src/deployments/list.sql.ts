import { array, bool, type Columns, int4, int8, nullable, statement, text, timestamptz, uuid } from '@slipway/database'
import { jsonObject, ownSql, SUMMARY, withProgress } from '@slipway/database/read-models'
import { DEPLOYMENT_STATES } from '@slipway/domain'
import { afterNewerSql, pageColumns, sortedName } from '../pages.sql.ts'
import { ofSourceSql, recordSql, sourceColumns } from '../records/filters.sql.ts'

/**
 * SQL: a filter by one of these values. Postgres plans each call for its value and reduces the filter to `d.state = 'running'`.
 * Only this form uses the partial indexes by state and source type (goals: list and search at 1,000,000 deployments).
 */
const isAnyOf = (column: string, values: readonly string[], parameter: string) =>
  values.map((value) => `(d.${column} = '${value}' AND '${value}' = ANY (${parameter}::text[]))`).join(' OR ')

/** Null means no condition. Records are given by id or number. */
const filter = {
  tenant_id: nullable(uuid),
  of_tenant: nullable(uuid),
  of_tenant_number: nullable(int4),
  of_environment: nullable(uuid),
  of_environment_number: nullable(int4),
  states: nullable(array(text)),
  source_types: nullable(array(text)),
}
const FILTER = `${ownSql('d')}
       AND (:of_tenant::uuid IS NULL OR d.tenant_id = :of_tenant)
       AND (:of_tenant_number::int4 IS NULL
            OR d.tenant_id = (SELECT id FROM tenants WHERE number = :of_tenant_number))
       AND (:of_environment::uuid IS NULL OR d.environment_id = :of_environment)
       AND (:of_environment_number::int4 IS NULL
            OR d.environment_id = (SELECT id FROM environments WHERE number = :of_environment_number))
       AND (:states::text[] IS NULL OR ${isAnyOf('state', DEPLOYMENT_STATES, ':states')})
       AND (:source_types::text[] IS NULL OR ${isAnyOf('source_type', ['solution', 'sequence', 'action'], ':source_types')})`

/** The filters that the counters do not cover. */
const narrow = {
  ...sourceColumns,
  version: nullable(text),
  triggered_by: nullable(text),
  created_from: nullable(timestamptz),
  created_before: nullable(timestamptz),
}
const NARROW = [
  ofSourceSql('d'),
  '(:version::text IS NULL OR d.source_version = :version)',
  '(:triggered_by::text IS NULL OR d.triggered_by = :triggered_by)',
  '(:created_from::timestamptz IS NULL OR d.created_at >= :created_from)',
  '(:created_before::timestamptz IS NULL OR d.created_at < :created_before)',
].join(' AND ')

/**
 * A search for part of a source's name; deployments in one of the states match, too. The array lets Postgres use the index by
 * name, which a join does not (goal: search at 1,000,000 deployments).
 */
const search = { pattern: nullable(text), found_states: array(text) }
const SEARCH = `(:pattern::text IS NULL OR d.source_name = ANY (ARRAY(SELECT n.source_name FROM deployment_names n WHERE n.source_name ILIKE :pattern))
       OR ${isAnyOf('state', DEPLOYMENT_STATES, ':found_states')})`

/**
 * Checks are no deployments to users. The array keeps the scans index-only (goal: list at 1,000,000 deployments), and holds few ids:
 * a check is deleted soon after its end.
 */
const NO_CHECK = 'd.id <> ALL (ARRAY(SELECT c.id FROM deployments c WHERE c.is_check))'

const NEWEST_FIRST = 'd.created_at DESC, d.id DESC'

const asJson = (deployments: string, order = NEWEST_FIRST) =>
  `(SELECT coalesce(json_agg(${jsonObject(SUMMARY)} ORDER BY ${order}), '[]')::text
    FROM ${withProgress(deployments)})`

/** A deployment without an end comes after all others, so it is the first one from the latest end. */
const BY_END = 'd.completed_at IS NULL, coalesce(d.completed_at, d.created_at), d.id'
const BY_END_REVERSED = 'd.completed_at IS NULL DESC, coalesce(d.completed_at, d.created_at) DESC, d.id DESC'

/** A condition that stands twice in a statement would make it long. */
const inOneLine = (sql: string) => sql.replaceAll(/\s*\n\s*/g, ' ')

/** SQL: the ids of the page by end. The index has those that have ended, and few others run. */
const pageByEnd = (where: string, direction: 'ASC' | 'DESC') => `
      SELECT k.id FROM (
        SELECT d.id, d.created_at AS at, true AS runs FROM deployments d WHERE d.completed_at IS NULL AND ${where}
        UNION ALL
        (SELECT d.id, d.completed_at, false FROM deployments d WHERE d.completed_at IS NOT NULL AND NOT d.is_check AND ${where}
          ORDER BY d.completed_at ${direction}, d.id ${direction} LIMIT :skip::bigint + :take::bigint)) k
       ORDER BY k.runs ${direction}, k.at ${direction}, k.id ${direction} LIMIT :take OFFSET :skip`

/** SQL: the ids of the page in an order that an index has. */
const pageInOrder = (where: string, order: string) =>
  `SELECT d.id FROM deployments d WHERE ${where} ORDER BY ${order} LIMIT :take OFFSET (SELECT :skip::bigint)`

const BY_SOURCE = 'd.source_name, d.created_at DESC, d.id DESC'
const BY_SOURCE_REVERSED = 'd.source_name DESC, d.created_at, d.id'

/** The orders that `sort` can ask for, beside the own one: those with an index (goal: list at 1,000,000 deployments). */
const SORTS = {
  created_at: { order: 'd.created_at, d.id', ids: (where: string) => pageInOrder(where, 'd.created_at, d.id') },
  source_name: { order: BY_SOURCE, ids: (where: string) => pageInOrder(where, BY_SOURCE) },
  '-source_name': { order: BY_SOURCE_REVERSED, ids: (where: string) => pageInOrder(where, BY_SOURCE_REVERSED) },
  completed_at: { order: BY_END, ids: (where: string) => pageByEnd(inOneLine(where), 'ASC') },
  '-completed_at': { order: BY_END_REVERSED, ids: (where: string) => pageByEnd(inOneLine(where), 'DESC') },
} as const

export type SortedBy = keyof typeof SORTS
export const isSorted = (sort: string): sort is SortedBy => Object.hasOwn(SORTS, sort)

interface Selection<P> {
  name: 'listed' | 'found' | 'on-target'
  parameters: P
  where: string
  total: string
}

function pages<P extends Columns>({ name, parameters, where, total }: Selection<P>) {
  const common = { planEachCall: true, row: { total: int8, data: text } } as const
  const given = { ...parameters, ...pageColumns }
  /**
   * Finds the ids by an index-only scan, then reads their rows (goal: list at 1,000,000 deployments). `slice` may use `total.n`, which
   * is of the same snapshot. The outer limit is for the last pages: Postgres cannot know their own limit, and would read all rows.
   */
  const page = (slice: string) => `WITH total AS (SELECT ${total} AS n)
    SELECT total.n AS total, ${asJson(`(SELECT d.* FROM (SELECT k.id FROM (
      SELECT d.id, d.created_at FROM deployments d WHERE ${where} AND ${afterNewerSql('d')} ${slice}) k LIMIT :take) k JOIN deployments d ON d.id = k.id)`)} AS data
      FROM total`
  const inOrder = (sort: SortedBy) => {
    const { order, ids } = SORTS[sort]
    return statement({
      name: sortedName(`gateway.deployments.${name}`, sort),
      ...common,
      parameters: { ...parameters, take: pageColumns.take, skip: pageColumns.skip },
      sql: `SELECT ${total} AS total,
        ${asJson(`(SELECT d.* FROM (${ids(where)}) k JOIN deployments d ON d.id = k.id)`, order)} AS data`,
    })
  }
  const sorted = {
    created_at: inOrder('created_at'),
    source_name: inOrder('source_name'),
    '-source_name': inOrder('-source_name'),
    completed_at: inOrder('completed_at'),
    '-completed_at': inOrder('-completed_at'),
  }
  return {
    count: statement({
      name: `gateway.deployments.count-${name}`,
      planEachCall: true,
      parameters,
      row: { total: int8 },
      sql: `SELECT ${total} AS total`,
    }),
    fromNewest: statement({
      name: `gateway.deployments.${name}-from-newest`,
      ...common,
      parameters: given,
      // The subquery hides the offset: Postgres would sort all deployments for a middle page, 475 ms instead of 22 ms at 250,000 of
      // 600,000 (goal: list at 1,000,000 deployments).
      sql: page(`ORDER BY ${NEWEST_FIRST} LIMIT :take OFFSET (SELECT :skip::bigint)`),
    }),
    /** Offsets count from the newest row. The total gives the offset from the oldest row. */
    fromOldest: statement({
      name: `gateway.deployments.${name}-from-oldest`,
      ...common,
      parameters: given,
      sql: page(`ORDER BY d.created_at, d.id LIMIT greatest(0, least(:take, (SELECT n FROM total) - :skip))
         OFFSET greatest(0, (SELECT n FROM total) - :skip - :take)`),
    }),
    sorted: (sort: SortedBy) => sorted[sort],
  }
}

/** The counters cover these filters. */
export const LISTED = pages({
  name: 'listed',
  parameters: filter,
  where: `${FILTER} AND ${NO_CHECK}`,
  total: `(SELECT coalesce(sum(d.count), 0)::bigint FROM deployment_counts d WHERE ${FILTER})`,
})

const FOUND_WHERE = `${FILTER} AND ${NO_CHECK} AND ${NARROW} AND ${SEARCH}`

export const FOUND = pages({
  name: 'found',
  parameters: { ...filter, ...narrow, ...search },
  where: FOUND_WHERE,
  total: `(SELECT count(*) FROM deployments d WHERE ${FOUND_WHERE})`,
})

// The condition stands outside of OR, so that Postgres joins: a target may have few deployments or all of them.
const ON_TARGET_WHERE = `${FOUND_WHERE}
       AND d.id IN (SELECT t.deployment_id FROM deployment_targets t WHERE t.target_id = ${recordSql('targets', 'of_target')})`

export const ON_TARGET = pages({
  name: 'on-target',
  parameters: { ...filter, ...narrow, ...search, of_target: nullable(uuid), of_target_number: nullable(int4) },
  where: ON_TARGET_WHERE,
  total: `(SELECT count(*) FROM deployments d WHERE ${ON_TARGET_WHERE})`,
})

/** Whether any, and whether all names of deployments match. There are few distinct names per tenant. */
export const matchNames = statement({
  name: 'gateway.deployments.match-names',
  parameters: { pattern: text },
  row: { any: bool, all: bool },
  sql: `SELECT coalesce(bool_or(source_name ILIKE :pattern), false) AS any,
       coalesce(bool_and(source_name ILIKE :pattern), false) AS all
      FROM deployment_names`,
})
