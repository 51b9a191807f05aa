import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { Queue, Worker } from 'bullmq'
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { cpuSeconds } from './cpu.mjs'
import { settle } from './instance.mjs'
import { figure, line } from './report.mjs'
import { interleave } from './rounds.mjs'

const { connect } = createRequire(new URL('../packages/broker/package.json', import.meta.url))('amqplib')

const JOBS = Number(process.env.JOBS ?? 10_000)
const MANY = Number(process.env.MANY ?? 1_000_000)
const PRIORITIES = 201
/** A point of priority in the rank of a request, as in `rankOf`. */
const POINT = 3_153_600_000_000
/** What copies of a request have in common. */
const COPIED = `source_type, source_id, source_name, source_version, target_count, step_count, first_targets, triggered_by, command,
  freeze_subject, freeze_key, author_id`

/** Goals 4 and 5: emptying the queue, beside BullMQ with priorities and graphile-worker as it comes. */
export async function measureDrain({ suite, database, api, instance, body, rounds }) {
  const drained = await drainOf({ suite, database, api, instance, body })
  const bull = await bullmq()
  const graphile = await graphileWorker(suite.databaseUrl)
  const cpu = []
  try {
    const rates = await interleave(
      {
        async product() {
          await drained.fill(JOBS)
          const before = cpuSeconds([suite.pid('dispatcher')])
          const rate = await drained.run()
          cpu.push(((cpuSeconds([suite.pid('dispatcher')]) - before) * 1_000) / JOBS)
          return rate
        },
        bullmq: () => bull.run(),
        graphile: () => graphile.run(),
      },
      rounds,
    )
    await drained.fill(JOBS)
    const killed = await drained.run({ killInTheMiddle: true })
    // The queue is kept at a million and more, of which each round starts as many as before.
    await drained.fill(MANY)
    const many = await interleave({ product: () => drained.run() }, rounds)
    await drained.close()
    return [
      line(4, 'drain, of BullMQ with priorities', rates.product, rates.bullmq, '≥ 0.35'),
      line(4, 'drain, of graphile-worker', rates.product, rates.graphile, '≥ 2'),
      line(5, `drain with ${MANY} waiting, of that with ${JOBS}`, many.product, rates.product, '≥ 0.9'),
      figure('requests started a second', rates.product),
      figure('the same with the dispatcher killed in the middle', killed),
      figure('BullMQ jobs a second', rates.bullmq),
      figure('graphile-worker jobs a second', rates.graphile),
      figure('CPU ms of the dispatcher for one', cpu),
    ]
  } finally {
    await bull.close()
    await graphile.close()
  }
}

async function drainOf({ suite, database, api, instance, body }) {
  const { rows } = await database.query(`SELECT id FROM instances WHERE name = 'idle'`)
  const path = `/admin/instances/${rows[0].id}`
  const patch = async (draining) => {
    const { status } = await api.call('PATCH', path, { draining })
    if (status !== 200) throw new Error(`PATCH ${path} answered ${status}`)
  }
  await patch(true)
  const { body: queued } = await api.post('/deployments', body)
  // One request as the product made it, of which all the others are copies with priorities of their own.
  await database.query(
    `CREATE TABLE bench_request AS SELECT ${COPIED}, priority, rank FROM pending_requests WHERE id = '${queued.pending_request_id}'`,
  )
  await database.query('DELETE FROM pending_requests')

  const count = async (sql) => Number((await database.query(`SELECT count(*) AS n FROM (${sql}) x`)).rows[0].n)
  const model = await connect(process.env.RABBITMQ_URL)
  const channel = await model.createChannel()
  /** Takes away what is left for others to do with runs that have ended: it must not cost the next one its time. */
  const clear = async () => {
    do {
      await sleep(100)
      await channel.purgeQueue(`${suite.namespace}.executor.commands`)
    } while ((await count('SELECT FROM outbox')) > 0)
  }
  const live = 'SELECT FROM leases WHERE ended_at IS NULL'

  return {
    async close() {
      await database.query('TRUNCATE pending_requests')
      await model.close()
    },

    async fill(requests) {
      await database.query(`DELETE FROM pending_requests WHERE status <> 'pending'`)
      for (let first = 0; first < requests; first += 50_000) {
        await database.query(
          `INSERT INTO pending_requests (id, priority, rank, ${COPIED})
           SELECT gen_random_uuid(), given, rank + (priority - given) * ${POINT}, ${COPIED}
             FROM bench_request, (SELECT (random() * ${PRIORITIES - 1})::int - 100 AS given
                                    FROM generate_series(1, ${Math.min(50_000, requests - first)})) priorities`,
        )
      }
      await database.query('ANALYZE pending_requests, leases, deployments')
    },

    /** Opens the instance to the queue, and gives how many requests a second started until all of its slots are taken. */
    async run({ killInTheMiddle = false } = {}) {
      const { rows: before } = await database.query(
        `SELECT id FROM pending_requests WHERE status = 'pending' ORDER BY rank, id LIMIT ${JOBS}`,
      )
      const at = performance.now()
      await patch(false)
      for (let killed = !killInTheMiddle; ; ) {
        const taken = await count(live)
        if (taken >= JOBS) break
        if (!killed && taken > JOBS / 3) {
          killed = true
          await suite.kill('dispatcher')
          await suite.start('dispatcher')
        }
        // Counting takes the machine from what is measured; so much later than it is its end is seen at most.
        await sleep(50)
      }
      const rate = (JOBS / (performance.now() - at)) * 1_000

      // Put together here: the database would compare each with each, for its statistics know of no live lease.
      const { rows: leases } = await database.query(
        `SELECT deployment_id FROM leases WHERE ended_at IS NULL ORDER BY epoch`,
      )
      const { rows: gone } = await database.query(
        `SELECT id, deployment_id FROM pending_requests WHERE status = 'dispatched'`,
      )
      const requestOf = new Map(gone.map(({ id, deployment_id }) => [deployment_id, id]))
      const started = leases.map(({ deployment_id }) => ({ id: requestOf.get(deployment_id) }))
      if (started.length !== JOBS || started.some(({ id }, place) => id !== before[place].id)) {
        throw new Error('the requests did not start in order, each once')
      }
      // Not by a command, which would wait behind the runs.
      await database.query('UPDATE instances SET draining = true')
      await settle({ instance, database })
      await clear()
      return rate
    },
  }
}

/** Its own way to be fast: jobs of a worker with 50 at a time, which do nothing. */
async function bullmq() {
  const url = new URL(process.env.REDIS_URL)
  const connection = { host: url.hostname, port: Number(url.port), ...(url.password ? { password: url.password } : {}) }
  const name = `bench-${randomUUID()}`
  const queue = new Queue(name, { connection })
  return {
    async run() {
      for (let first = 0; first < JOBS; first += 1_000) {
        await queue.addBulk(
          Array.from({ length: Math.min(1_000, JOBS - first) }, (_, n) => ({
            name: 'run',
            data: { n },
            opts: { priority: 1 + Math.floor(Math.random() * PRIORITIES), removeOnComplete: true },
          })),
        )
      }
      let done = 0
      const at = performance.now()
      await new Promise((resolve, reject) => {
        const worker = new Worker(name, async () => {}, {
          connection: { ...connection, maxRetriesPerRequest: null },
          concurrency: 50,
        })
        worker.on('error', reject)
        worker.on('completed', () => {
          done += 1
          if (done === JOBS) resolve(worker.close())
        })
      })
      return (JOBS / (performance.now() - at)) * 1_000
    },
    async close() {
      await queue.obliterate({ force: true })
      await queue.close()
    },
  }
}

/** As it comes: one job at a time. */
async function graphileWorker(connectionString) {
  const utils = await makeWorkerUtils({ connectionString })
  await utils.migrate()
  return {
    async run() {
      await utils.withPgClient((client) =>
        client.query(
          `SELECT graphile_worker.add_job('bench', '{}'::json, priority => (random() * ${PRIORITIES - 1})::int - 100)
             FROM generate_series(1, ${JOBS})`,
        ),
      )
      let done = 0
      const at = performance.now()
      let finished
      const all = new Promise((resolve) => {
        finished = resolve
      })
      const runner = await run({
        connectionString,
        noHandleSignals: true,
        logger: new Logger(() => () => {}),
        taskList: {
          bench() {
            done += 1
            if (done === JOBS) finished()
          },
        },
      })
      await all
      const rate = (JOBS / (performance.now() - at)) * 1_000
      await runner.stop()
      return rate
    },
    close: () => utils.release(),
  }
}
