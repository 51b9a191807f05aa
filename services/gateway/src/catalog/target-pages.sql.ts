import { bool, int4, int8, nullable, statement, text, timestamptz, uuid } from '@slipway/database'
import { LAST_SEEN_OF_TARGET, STATUS_OF_TARGET, visibleSql } from '@slipway/database/read-models'
import { afterNewerSql, ordersOf, pageColumns, sortedName } from '../pages.sql.ts'
import { amongColumns, isAmongSql, tagColumns, taggedSql } from '../records/filters.sql.ts'

/** Null means no condition. The environment is given by id or number. */
const filter = {
  tenant_id: nullable(uuid),
  pattern: nullable(text),
  searched_key: nullable(text),
  of_environment: nullable(uuid),
  of_environment_number: nullable(int4),
  ...tagColumns,
  ...amongColumns,
  enabled: nullable(bool),
  status: nullable(text),
  managed_by: nullable(text),
}
const FILTER = `${visibleSql('t')} AND (:pattern::text IS NULL OR t.name ILIKE :pattern OR t.name_key = :searched_key)
       AND (:of_environment::uuid IS NULL OR t.environment_id = :of_environment)
       AND (:of_environment_number::int4 IS NULL
            OR t.environment_id = (SELECT id FROM environments WHERE number = :of_environment_number))
       AND ${taggedSql('t.id')} AND ${isAmongSql('t')}
       AND (:managed_by::text IS NULL OR t.managed_by = :managed_by)
       AND (:enabled::bool IS NULL OR t.enabled = :enabled)
       AND (:status::text IS NULL OR ${STATUS_OF_TARGET} = :status)`

export const countTargets = statement({
  name: 'gateway.targets.count',
  parameters: filter,
  row: { total: int8 },
  sql: `SELECT count(*) AS total FROM targets t WHERE ${FILTER}`,
})

/** Newest first. */
export const findTargets = statement({
  name: 'gateway.targets.find-page',
  parameters: { ...filter, ...pageColumns },
  row: { id: uuid, created_at: timestamptz },
  sql: `SELECT t.id, t.created_at FROM targets t WHERE ${FILTER} AND ${afterNewerSql('t')}
     ORDER BY t.created_at DESC, t.id DESC LIMIT :take OFFSET :skip`,
})

/** What `sort` can name. The best status comes first. */
const SORTS = ordersOf(
  {
    name: 't.name',
    status: `array_position(ARRAY['online', 'stale', 'offline'], ${STATUS_OF_TARGET})`,
    created_at: 't.created_at',
    last_seen_at: LAST_SEEN_OF_TARGET,
    environment_name: '(SELECT e.name FROM environments e WHERE e.id = t.environment_id)',
  },
  't.id',
)

/** The same pages in another order, by `sort`. */
export const findSortedTargets = new Map(
  SORTS.map(([sort, order]) => [
    sort,
    statement({
      name: sortedName('gateway.targets.find-page', sort),
      parameters: { ...filter, take: pageColumns.take, skip: pageColumns.skip },
      row: { id: uuid, created_at: timestamptz },
      sql: `SELECT t.id, t.created_at FROM targets t WHERE ${FILTER} ORDER BY ${order} LIMIT :take OFFSET :skip`,
    }),
  ]),
)
