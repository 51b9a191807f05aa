import { settle } from './instance.mjs'
import { drive } from './load.mjs'
import { figure, plain } from './report.mjs'
import { interleave, median } from './rounds.mjs'

const FREEZES = Number(process.env.FREEZES ?? 1_000)

/** Goal 24: what recurring freezes that are not in force add to a create. */
export async function measureFreezes({ suite, database, api, instance, body, rounds, seconds }) {
  const request = { method: 'POST', token: api.token, body, expect: 201, clients: 1, seconds }
  async function p50() {
    const { times } = await drive(`${suite.url}/api/v1/deployments`, request)
    await settle({ instance, database })
    return median(times)
  }
  const times = await interleave(
    {
      async without() {
        await database.query('DELETE FROM freezes')
        return p50()
      },
      async with() {
        // Windows of an hour, 6 to 22 hours from now, at a different minute each. A third comes on 29 February only.
        await database.query(
          `INSERT INTO freezes (id, name, start_time, end_time, recurrence, start_offset, time_zone)
           SELECT gen_random_uuid(), 'bench ' || n, start, start + interval '1 hour',
                  (ARRAY['FREQ=WEEKLY', 'FREQ=DAILY', 'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29'])[1 + n % 3], '+00:00', 'Europe/Berlin'
             FROM (SELECT n, now() - interval '28 days' + interval '6 hours' + make_interval(mins => n % 960) AS start
                     FROM generate_series(1, ${FREEZES}) AS n) made`,
        )
        return p50()
      },
    },
    rounds,
  )
  await database.query('DELETE FROM freezes')
  const added = times.with.map((time, round) => time - times.without[round])
  return [
    plain(24, `create with ${FREEZES} recurring freezes, ms more at p50`, added, '≤ 5'),
    figure('p50 of a create without freezes, ms', times.without),
    figure(`p50 of a create with ${FREEZES} recurring freezes, ms`, times.with),
  ]
}
