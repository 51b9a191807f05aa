import { randomUUID } from 'node:crypto'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { addLocalTargets } from '../tests/support/dist/index.js'
import { ask } from './ask.mjs'
import { settle } from './instance.mjs'
import { figure, line, plain } from './report.mjs'
import { interleave, median, quantile } from './rounds.mjs'

const TARGETS = Number(process.env.TARGETS ?? 10_000)
/** Of the sequence that run.mjs makes. */
const ACTIONS = 20
/** Transitions in a batch that a run of 20 steps can have: each started and ended. */
const SMALL_STEPS = 20
const LARGE_BATCH_STEPS = 1_000

/** Sends a request and reads its answer away. Milliseconds until the first and the last byte of the body. */
function timed(url, { token, body, method = 'POST', expect, agent }) {
  return new Promise((resolve, reject) => {
    const at = performance.now()
    const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
    const request = http.request(url, { method, headers, agent }, (response) => {
      let first
      let bytes = 0
      let start = ''
      response.on('data', (chunk) => {
        first ??= performance.now() - at
        if (start.length < 200) start += chunk.toString('latin1', 0, 200)
        bytes += chunk.length
      })
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode !== expect) reject(new Error(`${url} answered ${response.statusCode}: ${start}`))
        else resolve({ first, total: performance.now() - at, bytes, start })
      })
    })
    request.on('error', reject)
    request.end(body)
  })
}

/** The steps of a plan as objects, and as text: what nobody can do without who builds an answer of them. */
function buildBare(ids) {
  const at = performance.now()
  const actions = Array.from({ length: ACTIONS }, (_, n) => ({ id: randomUUID(), name: `action-${n}` }))
  const sequence = { id: randomUUID(), name: 'sequence' }
  const steps = []
  for (const [n, target_id] of ids.entries()) {
    const target_name = `rack-${n}.example.com`
    for (const [action_order, action] of actions.entries()) {
      steps.push({
        id: randomUUID(),
        target_id,
        target_name,
        sequence_id: sequence.id,
        sequence_name: sequence.name,
        sequence_order: 0,
        action_id: action.id,
        action_name: action.name,
        action_order,
        state: 'pending',
        started_at: null,
        completed_at: null,
        exit_code: null,
        error_message: null,
        retry_count: 0,
        duration_ms: null,
      })
    }
  }
  const { length } = JSON.stringify({ plan: { steps } })
  if (length < ids.length) throw new Error('nothing was built')
  return performance.now() - at
}

/** A GET of one deployment of the list, over and over, while `busy` goes on; its times. */
async function beside(url, token, busy) {
  const agent = new http.Agent({ keepAlive: true, localAddress: '127.9.1.1' })
  const times = []
  let over = false
  const work = busy().finally(() => {
    over = true
  })
  while (!over) {
    times.push((await timed(`${url}/api/v1/deployments?limit=1`, { method: 'GET', token, expect: 200, agent })).total)
    await sleep(5)
  }
  await work
  agent.destroy()
  return times
}

/** Goals 6, 7 and 8: plans of ten thousand targets and twenty actions. */
export async function measurePlans({ suite, database, api, instance, sequence, small, rounds, folder }) {
  const ids = await addLocalTargets(database, TARGETS)
  const services = ['gateway', 'planner', 'dispatcher', 'executor-bridge']
  const askAll = async () => {
    const told = {}
    for (const name of services) told[name] = await ask(suite.pid(name), folder)
    return told
  }
  const body = JSON.stringify({ sequence_id: sequence, target_ids: ids })
  const large = { token: api.token, body }
  const series = { first: [], previewLag: { gateway: [], planner: [] }, growth: { gateway: [], planner: [] } }
  let bytes = 0
  const preview = async () => timed(`${suite.url}/api/v1/deployments/preview`, { ...large, expect: 200 })
  const create = async () => {
    const answer = await timed(`${suite.url}/api/v1/deployments`, { ...large, expect: 201 })
    return { ...answer, id: /"deployment_id":"([^"]+)"/.exec(answer.start)[1] }
  }

  const previews = await interleave(
    {
      async product() {
        const before = await askAll()
        const answer = await preview()
        const after = await askAll()
        bytes = answer.bytes
        series.first.push(answer.first)
        for (const name of ['gateway', 'planner']) {
          series.previewLag[name].push(after[name].p99)
          series.growth[name].push(after[name].peak_mib - before[name].rss_mib)
        }
        return answer.total
      },
      bare: async () => buildBare(ids),
    },
    rounds,
  )

  await database.query('CREATE TABLE floor_steps (LIKE steps INCLUDING ALL) WITH (fillfactor = 70)')
  const createLag = { gateway: [], planner: [], dispatcher: [], 'executor-bridge': [] }
  const creates = await interleave(
    {
      async product() {
        await askAll()
        const { total } = await create()
        const after = await askAll()
        for (const name of services) createLag[name].push(after[name].max)
        await settle({ instance, database })
        return total
      },
      async rows() {
        const at = performance.now()
        await database.query(
          `INSERT INTO floor_steps (deployment_id, target_index, action_index)
           SELECT $1, t, a FROM generate_series(0, $2::int - 1) t, generate_series(0, $3::int - 1) a`,
          [randomUUID(), TARGETS, ACTIONS],
        )
        return performance.now() - at
      },
    },
    rounds,
  )

  const quiet = await beside(suite.url, api.token, () => sleep(3_000))
  const duringPreviews = await beside(suite.url, api.token, async () => {
    for (let n = 0; n < 5; n += 1) await preview()
  })
  const duringCreates = await beside(suite.url, api.token, async () => {
    for (let n = 0; n < 3; n += 1) await create()
  })
  await settle({ instance, database })

  const transitions = await measureTransitions({ api, suite, instance, create, small, rounds })
  await settle({ instance, database })
  const detail = await timed(`${suite.url}/api/v1/deployments/${transitions.id}`, {
    method: 'GET',
    token: api.token,
    expect: 200,
  })

  const steps = TARGETS * ACTIONS
  return [
    line(6, `preview of ${steps} steps, of building it bare`, previews.product, previews.bare, '≤ 1.5'),
    plain(6, 'first byte of the preview, ms', series.first.slice(1), '≤ 400'),
    plain(6, 'event loop of the gateway meanwhile, p99 ms', series.previewLag.gateway.slice(1), '≤ 50'),
    plain(6, 'event loop of the planner meanwhile, p99 ms', series.previewLag.planner.slice(1), '≤ 1000'),
    figure('memory that a preview adds to the gateway, MiB', series.growth.gateway.slice(1)),
    figure('memory that a preview adds to the planner, MiB', series.growth.planner.slice(1)),
    line(7, `create of ${steps} steps, of inserting the rows bare`, creates.product, creates.rows, '≤ 3'),
    ...services.map((name) => figure(`longest turn of the ${name} in a create, ms`, createLag[name].slice(1))),
    line(8, `a transition among ${steps} steps, of one among 20`, transitions.large, transitions.small, '≤ 1.5'),
    plain(8, 'transitions a second', transitions.rates, '≥ 10000'),
    figure('preview, ms', previews.product),
    figure('building it bare, ms', previews.bare),
    figure('size of the answer, MiB', bytes / 1024 / 1024),
    figure('create, ms', creates.product),
    figure('inserting the rows bare, ms', creates.rows),
    figure('reading it back with what has happened, ms', detail.total),
    figure('small request, p99 ms, nothing else going on', quantile(quiet, 0.99)),
    figure('small request, p99 ms, during previews', quantile(duringPreviews, 0.99)),
    figure('small request, p99 ms, during creates', quantile(duringCreates, 0.99)),
  ]
}

/** Events as an instance sends them, for these steps: each started, then ended. */
export function eventsOf(steps) {
  const at = new Date().toISOString()
  const empty = { exit_code: 0, error_message: null, started_at: at, stdout_tail: '', stderr_tail: '' }
  return steps.flatMap(([target, action]) => [
    { type: 'step_started', at, target, action, attempt: 0 },
    { type: 'step_ended', at, target, action, attempt: 0, state: 'completed', ...empty },
  ])
}

async function measureTransitions({ api, suite, instance, create, small, rounds }) {
  const createSmall = async () => {
    const options = { token: api.token, body: small, expect: 201 }
    const { start } = await timed(`${suite.url}/api/v1/deployments`, options)
    return /"deployment_id":"([^"]+)"/.exec(start)[1]
  }
  const { id } = await create()
  const whole = { id, next: 0, step: 0 }
  /** Sends the next `count` steps of a run in one batch; the milliseconds. */
  const send = async (run, count) => {
    const steps = Array.from({ length: count }, (_, n) => [
      Math.floor((run.step + n) / ACTIONS),
      (run.step + n) % ACTIONS,
    ])
    const events = eventsOf(steps)
    const epoch = await instance.epochOf(run.id)
    const at = performance.now()
    await instance.send(run.id, { epoch, first_event: run.next, events })
    run.next += events.length
    run.step += count
    return performance.now() - at
  }
  const PAIRS = 20
  const costs = await interleave(
    {
      async small() {
        const times = []
        for (let n = 0; n < PAIRS; n += 1)
          times.push(await send({ id: await createSmall(), next: 0, step: 0 }, SMALL_STEPS))
        return median(times)
      },
      async large() {
        const times = []
        for (let n = 0; n < PAIRS; n += 1) times.push(await send(whole, SMALL_STEPS))
        return median(times)
      },
    },
    rounds,
  )
  const rates = []
  for (let round = 0; round <= rounds; round += 1) {
    let ms = 0
    for (let n = 0; n < 10; n += 1) ms += await send(whole, LARGE_BATCH_STEPS)
    rates.push((10 * LARGE_BATCH_STEPS * 2) / (ms / 1_000))
  }
  return { ...costs, rates: rates.slice(1), id }
}
