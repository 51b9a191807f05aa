import { execFileSync } from 'node:child_process'
import { cpuSeconds } from './cpu.mjs'
import { settle } from './instance.mjs'
import { drive } from './load.mjs'
import { figure, line, plain } from './report.mjs'
import { interleave, median, quantile } from './rounds.mjs'

const SERVICES = ['gateway', 'planner', 'dispatcher', 'executor-bridge', 'log-stream']
const CLIENTS = 16

/** Goals 1 and 2: creating, beside the bare rows and beside Express with Prisma. */
export async function measureCreate({ suite, database, api, peerUrl, instance, body, rounds, seconds, root }) {
  for (const [floor, table] of [
    ['floor_deployments', 'deployments'],
    ['floor_audit', 'audit_records'],
    ['floor_outbox', 'outbox'],
  ]) {
    await database.query(`CREATE TABLE ${floor} (LIKE ${table} INCLUDING ALL)`)
  }
  const request = { method: 'POST', token: api.token, body, expect: 201 }
  const pids = SERVICES.map((name) => suite.pid(name))
  const cpu = []
  const throughput = await interleave(
    {
      async product() {
        const before = cpuSeconds(pids)
        const { rate, times } = await drive(`${suite.url}/api/v1/deployments`, {
          ...request,
          clients: CLIENTS,
          seconds,
        })
        cpu.push(((cpuSeconds(pids) - before) * 1_000) / times.length)
        await settle({ instance, database })
        return rate
      },
      async pgbench() {
        const url = suite.databaseUrl
        const load = ['-n', '-c', String(CLIENTS), '-j', '2', '-T', String(seconds)]
        const args = [...load, '-f', `${root}/bench/peers/create.sql`, url]
        const said = execFileSync('pgbench', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
        return Number(/tps = ([\d.]+)/.exec(said)?.[1])
      },
      async peer() {
        const { rate } = await drive(`${peerUrl}/deployments`, { ...request, clients: CLIENTS, seconds })
        await settle({ instance, database })
        await database.query(`DELETE FROM outbox WHERE type = 'bench'`)
        return rate
      },
    },
    rounds,
  )
  const p99 = []
  const latency = await interleave(
    {
      async product() {
        const { times } = await drive(`${suite.url}/api/v1/deployments`, { ...request, clients: 1, seconds })
        p99.push(quantile(times, 0.99))
        await settle({ instance, database })
        return median(times)
      },
      async commit() {
        const times = []
        await database.query('CREATE TABLE IF NOT EXISTS floor_commit (n int)')
        for (let n = 0; n < 300; n += 1) {
          const at = performance.now()
          await database.query('INSERT INTO floor_commit VALUES (1)')
          times.push(performance.now() - at)
        }
        return median(times)
      },
    },
    rounds,
  )
  return [
    line(1, 'create, of a pgbench floor', throughput.product, throughput.pgbench, '≥ 0.10'),
    line(1, 'create, of Express + Prisma', throughput.product, throughput.peer, '≥ 1'),
    line(2, 'create alone, p50 in commits', latency.product, latency.commit, '≤ 8'),
    plain(2, 'create alone, p99 in ms', p99.slice(1), '≤ 25'),
    figure('creates a second', throughput.product),
    figure('pgbench transactions a second', throughput.pgbench),
    figure('Express + Prisma creates a second', throughput.peer),
    figure('CPU ms of all services for a create', cpu),
    figure('p50 of a create alone, ms', latency.product),
    figure('one commit, ms', latency.commit),
  ]
}
