import type { Queryable } from '@slipway/database'
import { DEPLOYMENT_STATES, type DeploymentState, pageOf, parsePage, type SourceType } from '@slipway/domain'
import { jsonObject, SUMMARY, withProgress } from '@slipway/views'
import { escapeLike } from '../catalog/listing.ts'
import type { Answer, Call } from '../http/handler.ts'
import { Filter } from './filter.ts'

/** Pages that begin up to here are read together with the total; further ones from the nearer end. */
const NEAR = 1_000

interface Slice {
  limit: number
  offset: number
}

/** One page of deployments, newest first. */
export async function listDeployments(db: Queryable, call: Call<'listDeployments'>): Promise<Answer> {
  const { search = '' } = call.query
  if (search === '') return readList(db, call, null)
  if ((await namesFitting(db, search)).all) {
    const unsearched = await readList(db, call, null)
    // Names only ever come: if all of them fit even now, none that does not was there before.
    if ((await namesFitting(db, search)).all) return unsearched
  }
  return readList(db, call, search)
}

async function readList(db: Queryable, call: Call<'listDeployments'>, search: string | null): Promise<Answer> {
  const { caller, query } = call
  const page = parsePage(query)
  const filter = new Filter(caller, 'd')
    .addRecord('tenant', 'd.tenant_id', query.tenant_id)
    .addRecord('environment', 'd.environment_id', query.environment_id)
  if (query.state !== undefined) filter.where(isAnyOf('state', [query.state]))
  if (query.source_type !== undefined) filter.where(isAnyOf('source_type', [query.source_type]))
  const total = search === null ? countedSql(filter) : await addSearch(db, filter, search)
  const result = page.offset <= NEAR ? await readNear(db, filter, total, page) : await readFar(db, filter, total, page)
  return { status: 200, json: `{"data":${result.data},"meta":${JSON.stringify(pageOf(page, result.total))}}` }
}

/** Written out, not as parameters: then the planner knows which of the partial indexes, one for each value, hold them. */
const isAnyOf = (column: 'state' | 'source_type', values: readonly (DeploymentState | SourceType)[]) =>
  `(${values.map((value) => `d.${column} = '${value}'`).join(' OR ')})`

/** How many there are: by the counters, which know everything but names. */
const countedSql = (filter: Filter) =>
  `(SELECT coalesce(sum(d.count), 0)::int FROM deployment_counts d WHERE ${filter.sql})`

const likeOf = (search: string) => `%${escapeLike(search)}%`

/** Whether any and whether all names of deployments hold this: there are few names, each once a tenant. */
async function namesFitting(db: Queryable, search: string): Promise<{ any: boolean; all: boolean }> {
  const { rows } = await db.query<{ any: boolean; all: boolean }>(
    `SELECT coalesce(bool_or(source_name ILIKE $1), false) AS any, coalesce(bool_and(source_name ILIKE $1), false) AS all
       FROM deployment_names`,
    [likeOf(search)],
  )
  return rows[0] ?? { any: false, all: false }
}

/**
 * Adds a search for a substring of the source's name or of the state, and returns the total. Names that match are looked up;
 * a search that fits the name of a state alone is a filter by it.
 */
async function addSearch(db: Queryable, filter: Filter, search: string): Promise<string> {
  const states = DEPLOYMENT_STATES.filter((state) => state.includes(search.toLowerCase()))
  if (states.length > 0 && !(await namesFitting(db, search)).any)
    return countedSql(filter.where(isAnyOf('state', states)))
  const pattern = filter.parameter(likeOf(search))
  const named = `d.source_name = ANY(ARRAY(SELECT n.source_name FROM deployment_names n WHERE n.source_name ILIKE ${pattern}))`
  filter.where(states.length === 0 ? named : `(${named} OR ${isAnyOf('state', states)})`)
  return `(SELECT count(*)::int FROM deployments d WHERE ${filter.sql})`
}

const NEWEST_FIRST = 'd.created_at DESC, d.id DESC'
const OLDEST_FIRST = 'd.created_at, d.id'

const asJson = (deployments: string) =>
  `(SELECT coalesce(json_agg(${jsonObject(SUMMARY)} ORDER BY ${NEWEST_FIRST}), '[]')::text
    FROM ${withProgress(deployments)})`

interface Result {
  total: number
  data: string
}

async function one(db: Queryable, sql: string, parameters: unknown[]): Promise<Result> {
  const { rows } = await db.query<Result>(sql, parameters)
  return rows[0] ?? { total: 0, data: '[]' }
}

/** Total and page in one round trip. */
function readNear(db: Queryable, filter: Filter, total: string, { limit, offset }: Slice): Promise<Result> {
  const where = filter.sql
  const slice = `LIMIT ${filter.parameter(limit)} OFFSET ${filter.parameter(offset)}`
  const deployments = `(SELECT d.* FROM deployments d WHERE ${where} ORDER BY ${NEWEST_FIRST} ${slice})`
  return one(db, `SELECT ${total} AS total, ${asJson(deployments)} AS data`, filter.parameters)
}

/**
 * A page further on: passed over by the index alone, from whichever end is nearer. Offsets count from the newest, so from
 * the other end they follow from the total as the same statement sees it.
 */
async function readFar(db: Queryable, filter: Filter, total: string, { limit, offset }: Slice): Promise<Result> {
  const counted = await one(db, `SELECT ${total} AS total, '[]' AS data`, filter.parameters)
  // Also keeps offsets that no list reaches away from the database.
  if (offset >= counted.total) return counted
  const where = filter.sql
  const [size, skip] = [`${filter.parameter(limit)}::bigint`, `${filter.parameter(offset)}::bigint`]
  const slice =
    offset < counted.total / 2
      ? `ORDER BY ${NEWEST_FIRST} LIMIT ${size} OFFSET ${skip}`
      : `ORDER BY ${OLDEST_FIRST} LIMIT greatest(0, least(${size}, (SELECT n FROM total) - ${skip}))
         OFFSET greatest(0, (SELECT n FROM total) - ${skip} - ${size})`
  const page = `(SELECT d.id, d.created_at FROM deployments d WHERE ${where} ${slice})`
  return one(
    db,
    `WITH total AS MATERIALIZED (SELECT ${total} AS n)
     SELECT (SELECT n FROM total) AS total,
            ${asJson(`(SELECT d.* FROM ${page} k JOIN deployments d ON d.id = k.id)`)} AS data`,
    filter.parameters,
  )
}
