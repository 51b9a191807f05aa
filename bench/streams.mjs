import { fork, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { addLocalTargets, sseToken } from '../tests/support/dist/index.js'
import { ask } from './ask.mjs'
import { cpuSeconds } from './cpu.mjs'
import { beginRun, settle } from './instance.mjs'
import { drive } from './load.mjs'
import { figure, line, plain } from './report.mjs'
import { interleave, quantile } from './rounds.mjs'

const { Redis } = createRequire(new URL('../services/log-stream/package.json', import.meta.url))('ioredis')

const WATCHERS = Number(process.env.WATCHERS ?? 500)
const TARGETS = Number(process.env.TARGETS ?? 10_000)
const SOAK_SECONDS = Number(process.env.SOAK_SECONDS ?? 60)
/** Lines a second that many watch, and how often an instance sends them. */
const PACE = 500
const EVERY_MS = 20
/** Lines of one batch where as many as possible are sent. */
const BATCH = 1_000
const now = () => performance.timeOrigin + performance.now()

/** Lines as an instance sends them; each holds the time at which it was written. */
const linesFrom = (first, count) => {
  const at = new Date().toISOString()
  const text = `@${now().toFixed(2)}`.padEnd(24, ' ') + 'x'.repeat(56)
  return Array.from({ length: count }, (_, n) => ({
    type: 'log',
    at,
    target: 0,
    action: 0,
    stream: 'stdout',
    level: 'info',
    line: first + n,
    text,
  }))
}

const frameOf = ({ at, line: seq, text: message }, id) =>
  `data: ${JSON.stringify({
    event: 'log',
    data: {
      type: 'log',
      log: {
        timestamp: at,
        level: 'info',
        step_id: id,
        target_id: id,
        target_name: 'target-0123abcd',
        message,
        metadata: { seq },
      },
    },
  })}\n\n`

/** A process that reads these streams. */
async function openWatchers(root, urls, { stall = false } = {}) {
  const child = fork(path.join(root, 'bench/watchers.mjs'), { execArgv: [], env: { ...process.env, NODE_OPTIONS: '' } })
  const answer = () => new Promise((resolve) => child.once('message', resolve))
  child.send({ what: 'open', urls, stall })
  await answer()
  const report = async () => {
    child.send({ what: 'report' })
    return answer()
  }
  return {
    report,
    async until(last) {
      for (;;) {
        const told = await report()
        if (told.last >= last) return told
        await sleep(5)
      }
    },
    async stop() {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await gone
    },
  }
}

export async function measureStreams({ suite, database, api, instance, small, rounds, seconds, folder, root }) {
  const [direct] = suite.logStreams
  const streamUrl = async (base, id) => `${base}/api/v1/deployments/${id}/logs?sse_token=${await sseToken(api)}`
  const urlsOf = async (base, id, count) => {
    const urls = []
    // Some at a time: what is measured is listening.
    while (urls.length < count) urls.push(...(await Promise.all(Array.from({ length: 20 }, () => streamUrl(base, id)))))
    return urls.slice(0, count)
  }
  const begin = async (body = small) => ({ ...(await beginRun({ api, instance }, body)), next: 0, line: 0 })
  const send = async (run, events) => {
    await instance.send(run.id, { epoch: run.epoch, first_event: run.next, events })
    run.next += events.length
  }
  const sendLines = async (run, count) => {
    const lines = linesFrom(run.line, count)
    run.line += count
    await send(run, lines)
  }
  const paced = async (run, forSeconds) => {
    const started = performance.now()
    for (let n = 1; performance.now() - started < forSeconds * 1_000; n += 1) {
      await sendLines(run, (PACE * EVERY_MS) / 1_000)
      await sleep(Math.max(0, started + n * EVERY_MS - performance.now()))
    }
  }
  const memory = () => ask(suite.pid('log-stream'), folder)

  const ingest = await measureIngest()
  const listening = await measureListening()
  const fairness = await measureFairness()
  const soak = await measureSoak()
  return [
    line(12, 'lines a second to a stream, of XADD and XREAD line by line', ingest.product, ingest.lines, '≥ 0.35'),
    line('', 'the same, of XADD and XREAD of the same batches', ingest.product, ingest.batches, '≥ 0'),
    figure('lines a second to a stream', ingest.product),
    figure('XADD and XREAD line by line, lines a second', ingest.lines),
    figure('CPU of bridge, log-stream and gateway, ms for 1,000 lines', ingest.cpu),
    plain(13, `${WATCHERS} watchers, p99 ms`, listening.p99, '≤ 75'),
    plain('', 'the same by the gateway, p99 ms', listening.gateway, '≤ 75'),
    plain('', 'the bare fan-out at the same pace, p99 ms', listening.bare, '≤ 75'),
    line(13, 'p99 with 20 stalled watchers, of p99 without', listening.stalled, listening.p99, '≤ 1.1'),
    line(13, 'deliveries a second, of the bare fan-out', listening.rate, listening.bareRate, '≥ 0.5'),
    figure('deliveries a second', listening.rate),
    line(
      '',
      'CPU of the log-stream at that pace, of the bare fan-out',
      listening.cpu.product,
      listening.cpu.bare,
      '≥ 0',
    ),
    plain(13, 'memory of a watcher, KiB', listening.kib, '≤ 16'),
    line(20, 'create p99 while a large run and watchers go on, of idle', fairness.busy, fairness.idle, '≤ 3'),
    figure('create p99 idle, ms', fairness.idle),
    figure('create p99 meanwhile, ms', fairness.busy),
    line(18, `log-stream after a soak of ${SOAK_SECONDS} s, of a third of it`, [soak.end], [soak.third], '≤ 1.05'),
    figure('log-stream at the end of the soak, MiB', soak.end),
  ]

  async function measureIngest() {
    const total = 20 * BATCH
    const run = await begin()
    const pids = ['executor-bridge', 'log-stream', 'gateway'].map((name) => suite.pid(name))
    const cpu = []
    const redis = () => new Redis(process.env.REDIS_URL)
    /** Writer and reader in one process, `perEntry` lines an entry. */
    const bare = async (perEntry) => {
      const [writer, reader] = [redis(), redis()]
      const key = `bench-${randomUUID()}`
      const started = performance.now()
      const reading = (async () => {
        let [id, read] = ['0-0', 0]
        while (read < total) {
          const reply = await reader.xread('COUNT', 1_000, 'BLOCK', 5_000, 'STREAMS', key, id)
          for (const [entry, fields] of reply?.[0]?.[1] ?? []) {
            id = entry
            read += [JSON.parse(fields[1])].flat().length
          }
        }
      })()
      for (let first = 0; first < total; first += BATCH) {
        const lines = linesFrom(first, BATCH)
        const pipeline = writer.pipeline()
        for (let n = 0; n < BATCH; n += perEntry) {
          pipeline.xadd(key, '*', 'batch', JSON.stringify(perEntry === 1 ? lines[n] : lines.slice(n, n + perEntry)))
        }
        await pipeline.exec()
      }
      await reading
      const rate = (total / (performance.now() - started)) * 1_000
      await writer.del(key)
      writer.disconnect()
      reader.disconnect()
      return rate
    }
    const watchers = await openWatchers(root, [await streamUrl(suite.url, run.id)])
    const rates = await interleave(
      {
        async product() {
          const started = performance.now()
          const before = cpuSeconds(pids)
          for (let n = 0; n < total / BATCH; n += 1) await sendLines(run, BATCH)
          await watchers.until(run.line - 1)
          cpu.push(((cpuSeconds(pids) - before) * 1e6) / total)
          return (total / (performance.now() - started)) * 1_000
        },
        lines: () => bare(1),
        batches: () => bare(BATCH),
      },
      rounds,
    )
    await watchers.stop()
    await settle({ instance, database })
    return { ...rates, cpu: cpu.slice(1) }
  }

  async function measureListening() {
    const peer = spawn(process.execPath, [path.join(root, 'bench/peers/fanout.mjs')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const port = await new Promise((resolve) => peer.stdout.once('data', (data) => resolve(String(data).trim())))
    const bareUrl = `http://127.0.0.1:${port}`
    const post = async (first, count) => {
      const body = linesFrom(first, count)
        .map((each) => frameOf(each, randomUUID()))
        .join('')
      await fetch(bareUrl, { method: 'POST', body })
    }
    const kib = []
    const cpu = { product: [], bare: [] }
    /** p99 at the usual pace, with all watchers at `base`. */
    const listen = async (base, stalledCount = 0) => {
      const run = await begin()
      const before = await memory()
      const watchers = await openWatchers(root, await urlsOf(base, run.id, WATCHERS))
      if (base === direct && stalledCount === 0) {
        kib.push((((await memory()).used_mib - before.used_mib) * 1_024) / WATCHERS)
      }
      const stalled =
        stalledCount > 0 && (await openWatchers(root, await urlsOf(base, run.id, stalledCount), { stall: true }))
      await paced(run, 1)
      await watchers.report()
      const busy = cpuSeconds([suite.pid('log-stream')])
      await paced(run, seconds)
      const { p99, ended } = await watchers.until(run.line - 1)
      if (base === direct && stalledCount === 0) cpu.product.push(cpuSeconds([suite.pid('log-stream')]) - busy)
      if (ended > 0) throw new Error(`${ended} watchers were cut off`)
      await watchers.stop()
      if (stalled) await stalled.stop()
      await settle({ instance, database })
      return p99
    }
    const bare = async () => {
      const watchers = await openWatchers(root, Array(WATCHERS).fill(bareUrl))
      const busy = cpuSeconds([peer.pid])
      const started = performance.now()
      let first = 0
      for (let n = 1; performance.now() - started < seconds * 1_000; n += 1) {
        await post(first, (PACE * EVERY_MS) / 1_000)
        first += (PACE * EVERY_MS) / 1_000
        await sleep(Math.max(0, started + n * EVERY_MS - performance.now()))
      }
      const { p99 } = await watchers.until(first - 1)
      cpu.bare.push(cpuSeconds([peer.pid]) - busy)
      await watchers.stop()
      return p99
    }
    const many = 5 * BATCH
    const rate = async () => {
      const run = await begin()
      const watchers = await openWatchers(root, await urlsOf(direct, run.id, WATCHERS))
      const started = performance.now()
      for (let n = 0; n < many / BATCH; n += 1) await sendLines(run, BATCH)
      await watchers.until(run.line - 1)
      const took = performance.now() - started
      await watchers.stop()
      await settle({ instance, database })
      return (many * WATCHERS * 1_000) / took
    }
    const bareRate = async () => {
      const watchers = await openWatchers(root, Array(WATCHERS).fill(bareUrl))
      const started = performance.now()
      for (let n = 0; n < many / BATCH; n += 1) await post(n * BATCH, BATCH)
      await watchers.until(many - 1)
      const took = performance.now() - started
      await watchers.stop()
      return (many * WATCHERS * 1_000) / took
    }
    try {
      const figures = await interleave(
        {
          p99: () => listen(direct),
          bare,
          stalled: () => listen(direct, 20),
          gateway: () => listen(suite.url),
          rate,
          bareRate,
        },
        rounds,
      )
      return { ...figures, kib: kib.slice(1), cpu: { product: cpu.product.slice(1), bare: cpu.bare.slice(1) } }
    } finally {
      peer.kill('SIGTERM')
    }
  }

  /** Creating, by one client after the other, alone and beside a run of ten thousand targets that all watch. */
  async function measureFairness() {
    const targets = await addLocalTargets(database, TARGETS)
    const { action_id } = JSON.parse(small)
    const create = async () => {
      const options = { clients: 2, seconds, method: 'POST', token: api.token, expect: 201 }
      const { times } = await drive(`${suite.url}/api/v1/deployments`, { ...options, body: small })
      return quantile(times, 0.99)
    }
    return interleave(
      {
        async idle() {
          const p99 = await create()
          await settle({ instance, database })
          return p99
        },
        async busy() {
          const run = await begin(JSON.stringify({ action_id, target_ids: targets, target_mode: 'parallel' }))
          const watchers = await openWatchers(root, await urlsOf(suite.url, run.id, WATCHERS))
          let over = false
          const running = (async () => {
            for (let target = 0; target < TARGETS && !over; target += 10) {
              const at = new Date().toISOString()
              const result = { exit_code: 0, error_message: null, started_at: at, stdout_tail: '', stderr_tail: '' }
              const steps = Array.from({ length: 10 }, (_, n) => ({ at, target: target + n, action: 0, attempt: 0 }))
              const lines = linesFrom(run.line, (PACE * EVERY_MS) / 1_000)
              run.line += lines.length
              await send(run, [
                ...steps.map((step) => ({ type: 'step_started', ...step })),
                ...lines,
                ...steps.map((step) => ({ type: 'step_ended', ...step, state: 'completed', ...result })),
              ])
              await sleep(EVERY_MS)
            }
          })()
          const p99 = await create()
          over = true
          await running
          await watchers.stop()
          await settle({ instance, database })
          return p99
        },
      },
      rounds,
    )
  }

  /** Watchers that come and go, some of which read nothing, while lines are written. */
  async function measureSoak() {
    const started = performance.now()
    const elapsed = () => (performance.now() - started) / 1_000
    let third = 0
    while (elapsed() < SOAK_SECONDS) {
      const run = await begin()
      const watchers = await openWatchers(root, await urlsOf(direct, run.id, 100))
      const stalled = await openWatchers(root, await urlsOf(direct, run.id, 5), { stall: true })
      await paced(run, 3)
      await watchers.stop()
      await stalled.stop()
      await settle({ instance, database })
      if (third === 0 && elapsed() > SOAK_SECONDS / 3) third = (await memory()).rss_mib
    }
    return { third, end: (await memory()).rss_mib }
  }
}
