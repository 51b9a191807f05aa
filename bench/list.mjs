import { drive } from './load.mjs'
import { figure, line } from './report.mjs'
import { interleave, median } from './rounds.mjs'

const SMALL = 10_000
const LARGE = 1_000_000

/** Deployments as they are after months: 400 names, three kinds of source, eight in ten succeeded, twenty rolled back. */
export const seed = (database, from, to) =>
  database.query(
    `WITH added AS (
     INSERT INTO deployments (id, state, source_type, source_id, source_name, source_version, plan_head, selection, total_steps,
       triggered_by, created_at, started_at, completed_at)
     SELECT gen_random_uuid(), (CASE WHEN n % 50000 = 0 THEN 'rolled_back'
         ELSE (ARRAY['success','success','success','success','failed'])[1 + n % 5] END)::deployment_state,
       (ARRAY['solution','sequence','action'])[1 + n % 3]::source_kind, gen_random_uuid(), 'service-' || n % 400 || '-release',
       '1.0.' || n % 50, '{"options": {"priority": 0}}', '{"target_ids": [], "target_tags": []}', 4, 'ci', t, t, t
     FROM (SELECT n, now() - n * interval '20 s' AS t FROM generate_series($1::int, $2::int) n) s
     RETURNING tenant_id, environment_id, source_type, state, source_name
     ), counted AS (
     INSERT INTO deployment_counts (tenant_id, environment_id, source_type, state, count, folded)
     SELECT tenant_id, environment_id, source_type, state, count(*), true FROM added GROUP BY 1, 2, 3, 4)
     INSERT INTO deployment_names (tenant_id, source_name)
     SELECT DISTINCT tenant_id, source_name FROM added ON CONFLICT DO NOTHING`,
    [from, to],
  )

/** Goals 16 and 17. The small list is measured first: then the same database grows. */
export async function measureList({ suite, database, api, peerUrl, rounds, seconds }) {
  const list = (query) => async () =>
    (await drive(`${suite.url}/api/v1/deployments${query}`, { token: api.token, clients: 4, seconds, expect: 200 }))
      .times
  const time = (query) => async () => median(await list(query)())
  const peer = (query) => async () =>
    median((await drive(`${peerUrl}/deployments${query}`, { clients: 4, seconds, expect: 200 })).times)

  await database.query('DELETE FROM deployments; DELETE FROM deployment_counts')
  await seed(database, 1, SMALL)
  await database.query('VACUUM ANALYZE deployments')
  const small = await interleave({ page: time('') }, rounds)
  const step = 100_000
  for (let from = SMALL + 1; from <= LARGE; from += step) await seed(database, from, Math.min(from + step - 1, LARGE))
  await database.query('VACUUM ANALYZE deployments')

  const like = async (pattern) => {
    const at = performance.now()
    const sql = 'SELECT count(*) FROM deployments WHERE source_name ILIKE $1 OR state::text ILIKE $1'
    await database.query('BEGIN')
    await database.query('SET LOCAL enable_indexscan = off')
    await database.query('SET LOCAL enable_bitmapscan = off')
    await database.query('SET LOCAL enable_indexonlyscan = off')
    await database.query('SET LOCAL max_parallel_workers_per_gather = 0')
    await database.query(sql, [pattern])
    await database.query('COMMIT')
    return performance.now() - at
  }
  const large = await interleave(
    {
      page: time(''),
      last: time(`?page=${LARGE / 50}`),
      middle: time(`?page=${LARGE / 100}`),
      rare: time('?state=rolled_back'),
      search: time('?search=vice-123-rel'),
      searchState: time('?search=failed'),
      searchMost: time('?search=release'),
      scan: () => like('%vice-123-rel%'),
      peer: peer(''),
    },
    rounds,
  )
  return [
    line(16, 'page 1 at 1M, of page 1 at 10k', large.page, small.page, '≤ 1.3'),
    line(16, 'last page at 1M, of page 1', large.last, large.page, '≤ 5'),
    line(16, 'Express + Prisma at 1M, of page 1', large.peer, large.page, '≥ 2'),
    line(17, 'search at 1M, of a sequential ILIKE', large.search, large.scan, '≤ 0.1'),
    figure('page 1 at 10k, ms (4 clients)', small.page),
    figure('page 1 at 1M, ms', large.page),
    figure('last page at 1M, ms', large.last),
    figure('middle page at 1M, ms', large.middle),
    figure('search at 1M, ms', large.search),
    figure('search for a state at 1M, ms', large.searchState),
    figure('search for what all names hold at 1M, ms', large.searchMost),
    figure('filter by a rare state at 1M, ms', large.rare),
    figure('sequential ILIKE, ms', large.scan),
    figure('Express + Prisma page 1 at 1M, ms', large.peer),
  ]
}
