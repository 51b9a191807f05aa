import { setTimeout as sleep } from 'node:timers/promises'
import { beginRun } from './instance.mjs'
import { drive } from './load.mjs'
import { figure, line, plain } from './report.mjs'
import { interleave, median, quantile } from './rounds.mjs'

const LINES = Number(process.env.LINES ?? 10_000_000)
const SEARCHED = Math.min(LINES, 1_000_000)
const CHUNK = 1_000
/** As many events as a batch may have, and as many as come together in the time for which an instance gathers them. */
const LARGE_BATCH = 2_000
const PACED_BATCH = 300
const LINES_A_SECOND = 20_000

const text = (n) => `deploying artifact part ${n} of the release to its place, with a checksum of ${n * 2_654_435_761}`

/** Goals 14 and 15: how soon lines can be read, how fast they are written, and what a page far down costs. */
export async function measureHistory({ suite, database, api, instance, body, rounds, seconds }) {
  const writer = await writerOf({ api, instance }, body)
  await database.query('CREATE TABLE floor_chunks (LIKE log_chunks INCLUDING ALL)')
  let chunk = 0
  const rates = await interleave(
    {
      product: () => rateOf(seconds, () => writer.send(LARGE_BATCH)),
      floor: () =>
        rateOf(seconds, async () => {
          const lines = Array.from({ length: LARGE_BATCH }, (_, n) => ({
            t: Date.now(),
            i: 0,
            a: 0,
            s: 'o',
            l: 'info',
            m: text(n),
          }))
          await database.query(
            'INSERT INTO floor_chunks (deployment_id, first_line, line_count, lines) VALUES ($1, $2, $3, $4)',
            [writer.id, chunk++ * LARGE_BATCH, LARGE_BATCH, JSON.stringify(lines)],
          )
        }),
    },
    rounds,
  )
  const p99s = []
  const medians = []
  for (let round = 0; round <= rounds; round += 1) {
    const times = await readableAfter({ suite, api, writer, seconds })
    if (round > 0) p99s.push(quantile(times, 0.99))
    if (round > 0) medians.push(median(times))
  }

  const seeded = await seed(database)
  const page = (offset) => async () => {
    const url = `${suite.url}/api/v1/deployments/${seeded}/logs/history?offset=${offset}&limit=100`
    return median((await drive(url, { token: api.token, clients: 2, seconds, expect: 200 })).times)
  }
  const pages = await interleave(
    { first: page(0), middle: page(LINES / 2 + 450), last: page(LINES - 100), within: page(900) },
    rounds,
  )
  const searches = []
  for (let round = 0; round <= rounds; round += 1) searches.push(await search({ suite, api, id: seeded }))
  return [
    plain(14, `readable in history at ${LINES_A_SECOND} lines a second, p99 ms`, p99s, '≤ 1000'),
    line(14, 'writer, of inserting the same chunks', rates.product, rates.floor, '≥ 0.4'),
    line(15, `page in the middle of ${LINES} lines, of the first`, pages.middle, pages.first, '≤ 1.5'),
    line(15, 'last page, of the first', pages.last, pages.first, '≤ 1.5'),
    figure('readable in history, p50 ms', medians),
    figure('lines a second written', rates.product),
    figure('lines a second inserted bare', rates.floor),
    figure('first page, ms (2 clients)', pages.first),
    figure('page in the middle, ms', pages.middle),
    figure('last page, ms', pages.last),
    figure('page over the end of a chunk, ms', pages.within),
    figure(
      `search that finds nothing in ${SEARCHED} lines, s`,
      searches.slice(1).map(({ seconds }) => seconds),
    ),
    figure(
      'its requests',
      searches.slice(1).map(({ requests }) => requests),
    ),
  ]
}

/** Reports the lines of a run that never ends, as its instance. */
async function writerOf({ api, instance }, body) {
  const { id, epoch } = await beginRun({ api, instance }, body)
  let next = 0
  return {
    id,
    get next() {
      return next
    },
    async send(count) {
      const at = new Date().toISOString()
      const first = next
      next += count
      const events = Array.from({ length: count }, (_, n) => ({
        type: 'log',
        at,
        target: 0,
        action: 0,
        stream: 'stdout',
        level: 'info',
        text: text(first + n),
        line: first + n,
      }))
      const { next_event } = await instance.send(id, { epoch, first_event: first, events })
      if (next_event !== next) throw new Error(`the bridge wants event ${next_event}, not ${next}`)
    },
  }
}

async function rateOf(seconds, send) {
  const started = performance.now()
  let count = 0
  for (; performance.now() < started + seconds * 1_000; count += 1) await send()
  return (count * LARGE_BATCH * 1_000) / (performance.now() - started)
}

/** Milliseconds from when a line was written until a page of history has it, while others go on. */
async function readableAfter({ suite, api, writer, seconds }) {
  const times = []
  const readers = []
  const started = performance.now()
  const from = writer.next
  while (performance.now() < started + seconds * 1_000) {
    const due = ((performance.now() - started) * LINES_A_SECOND) / 1_000
    if (writer.next - from > due) {
      await sleep(1)
      continue
    }
    const last = writer.next + PACED_BATCH - 1
    if (readers.length < (performance.now() - started) / 200) readers.push(waitFor(suite, api, writer.id, last, times))
    await writer.send(PACED_BATCH)
  }
  await Promise.all(readers)
  return times
}

async function waitFor(suite, api, id, number, times) {
  const at = performance.now()
  const url = `${suite.url}/api/v1/deployments/${id}/logs/history?offset=${number}&limit=1`
  for (;;) {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${api.token}` } })
    if (answer.status !== 200 && answer.status !== 429) throw new Error(`history answered ${answer.status}`)
    if (answer.status === 200 && (await answer.json()).length === 1) break
    await sleep(5)
  }
  times.push(performance.now() - at)
}

/** Looks for a text that no line has, page after page. */
async function search({ suite, api, id }) {
  const started = performance.now()
  let requests = 0
  for (let from = 0; from < SEARCHED; requests += 1) {
    const url = `${suite.url}/api/v1/deployments/${id}/logs/history?search=nothing+like+it&from=${from}`
    const answer = await fetch(url, { headers: { authorization: `Bearer ${api.token}` } })
    if (answer.status !== 200) throw new Error(`the search answered ${answer.status}`)
    from = Number(answer.headers.get('x-log-next'))
  }
  return { requests, seconds: (performance.now() - started) / 1_000 }
}

/** A deployment that ended, with its lines, of which each chunk has the same texts. */
async function seed(database) {
  const { rows } = await database.query(
    `INSERT INTO deployments (id, state, source_type, source_id, source_name, source_version, plan_head, selection,
       total_steps, started_at, completed_at)
     VALUES (gen_random_uuid(), 'success', 'action', gen_random_uuid(), 'long', '1.0.0', '{}', '{}', 1, now(), now())
     RETURNING id`,
  )
  const lines = Array.from({ length: CHUNK }, (_, n) => ({ t: Date.now(), i: 0, a: 0, s: 'o', l: 'info', m: text(n) }))
  for (let from = 0; from < LINES / CHUNK; from += 500) {
    await database.query(
      `INSERT INTO log_chunks (deployment_id, first_line, line_count, lines)
       SELECT $1, n::bigint * $2, $2, $3::jsonb FROM generate_series($4::int, $5::int) n`,
      [rows[0].id, CHUNK, JSON.stringify(lines), from, Math.min(from + 500, LINES / CHUNK) - 1],
    )
  }
  await database.query('VACUUM ANALYZE log_chunks')
  return rows[0].id
}
