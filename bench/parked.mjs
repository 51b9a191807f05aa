import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSeconds } from './cpu.mjs'
import { settle } from './instance.mjs'
import { drive } from './load.mjs'
import { figure, plain } from './report.mjs'
import { interleave, median } from './rounds.mjs'

const PARKED = Number(process.env.PARKED ?? 10_000)
const IDLE_SECONDS = 20

/** Goal 24: what requests that wait for approvals, half of them for a window too, add to a create and to an idle dispatcher. */
export async function measureParked({ suite, database, api, instance, body, rounds, seconds }) {
  const environment = await post(api, '/environments', {
    name: 'bench parked',
    rules: {
      approvals: { count: 1, expires_in_seconds: 86_400 },
      windows: [{ start_time: new Date(Date.now() + 43_200_000), end_time: new Date(Date.now() + 86_400_000) }],
    },
  })
  const { pending_request_id } = await post(api, '/deployments', { ...body, environment_id: environment.id })
  const { rows } = await database.query(
    `SELECT string_agg(quote_ident(column_name), ', ') AS names FROM information_schema.columns
      WHERE table_name = 'pending_requests' AND table_schema = current_schema() AND is_generated = 'NEVER'`,
  )
  const columns = rows[0].names
  const others = 'FROM pending_requests WHERE id <> $1'
  const idlePercent = async () => {
    const before = cpuSeconds([suite.pid('dispatcher')])
    await sleep(IDLE_SECONDS * 1_000)
    return ((cpuSeconds([suite.pid('dispatcher')]) - before) / IDLE_SECONDS) * 100
  }
  const idle = { without: [], with: [] }
  async function p50(name) {
    const request = { method: 'POST', token: api.token, body: JSON.stringify(body), expect: 201, clients: 1, seconds }
    const { times } = await drive(`${suite.url}/api/v1/deployments`, request)
    await settle({ instance, database })
    idle[name].push(await idlePercent())
    return median(times)
  }
  const times = await interleave(
    {
      async without() {
        await database.query(`DELETE ${others}`, [pending_request_id])
        return p50('without')
      },
      async with() {
        await database.query(
          `INSERT INTO pending_requests (${columns})
           SELECT ${columns} FROM (
             SELECT (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(),
                     'parked_for', (ARRAY['approval', 'window'])[1 + n % 2],
                     'review_at', now() + make_interval(secs => 3600 + n)))).*
               FROM pending_requests p, generate_series(1, ${PARKED}) AS n WHERE p.id = $1) AS copies`,
          [pending_request_id],
        )
        await database.query('ANALYZE pending_requests')
        return p50('with')
      },
    },
    rounds,
  )
  await database.query('DELETE FROM pending_requests')
  const added = times.with.map((time, round) => (time / times.without[round] - 1) * 100)
  const more = idle.with.map((percent, round) => percent - idle.without[round]).slice(1)
  return [
    plain(24, `create beside ${PARKED} parked requests, % more at p50`, added, '≤ 5'),
    plain(24, `idle dispatcher beside ${PARKED} parked requests, % of a core more`, more, '≤ 1'),
    figure('p50 of a create without parked requests, ms', times.without),
    figure('idle dispatcher without parked requests, % of a core', idle.without.slice(1)),
  ]
}

async function post(api, path, body) {
  const { status, body: answer } = await api.post(path, body)
  if (status >= 300) throw new Error(`${path} answered ${status}: ${JSON.stringify(answer)}`)
  return answer
}
