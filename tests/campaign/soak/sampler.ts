import fs from 'node:fs'
import path from 'node:path'
import { queueLengths, type ServiceName, type Suite } from '@slipway/testing'
import { Redis } from 'ioredis'
import { uptime } from '../clock.ts'
import { OracleDatabase } from '../database.ts'
import type { Servers } from '../suite.ts'
import { measureFloor } from './floor.ts'
import { FLOOR, type Measurements } from './series.ts'

/** Clock ticks of /proc/PID/stat in a second. */
const TICKS = 100
/** `rabbitmqctl` takes a second of a core. */
const RABBITMQCTL_EVERY_MS = 60_000
/** Redis keeps the live log of a deployment for an hour after its last line. The soak deletes it after this time. */
const LIVE_LOG_MS = 120_000
const LIVE_LOG_KEPT_MS = 3_600_000

/** What a process writes of its memory, in bytes; see collect.cjs. Without it, nobody knows where growing memory comes from. */
interface Memory {
  own: number
  /** Without compiled code. */
  heap: number
  code: number
  external: number
}

/** Tables of history, which retention deletes only after days. Every other table must keep its size. */
const HISTORY = new Set([
  'audit_links',
  'audit_records',
  'command_results',
  'deployment_actions',
  'deployment_targets',
  'deployment_transitions',
  'deployments',
  'idempotency_keys',
  'leases',
  'log_chunks',
  'pending_requests',
  'refresh_tokens',
  'releases',
  'run_progress',
  'sessions',
  'steps',
  'webhook_deliveries',
])

/** Rows of unfinished work, in tables that also hold history. */
const WAITING: Record<string, string> = {
  'deployments without end': 'SELECT count(*) FROM deployments WHERE completed_at IS NULL',
  'live leases': 'SELECT count(*) FROM leases WHERE ended_at IS NULL',
  'waiting requests': `SELECT count(*) FROM pending_requests WHERE status IN ('pending', 'processing')`,
  'waiting deliveries': `SELECT count(*) FROM webhook_deliveries WHERE status = 'pending'`,
}

export interface Sampler {
  sample(): Promise<void>
  close(): Promise<void>
}

export async function startSampler(options: {
  suite: Suite
  servers: Servers
  names: readonly ServiceName[]
  measurements: Measurements
  memoryFolder: string
}): Promise<Sampler> {
  const { suite, servers, names, measurements, memoryFolder } = options
  const database = new OracleDatabase(suite.databaseUrl)
  const redis = new Redis(servers.redis.url)
  const cpu = new Map<ServiceName, { at: number; ticks: number }>()
  let askedRabbitAt = Number.NEGATIVE_INFINITY

  const sampleProcess = (name: ServiceName) => {
    const place = `/proc/${suite.pid(name)}`
    const at = uptime()
    const stat = fs.readFileSync(`${place}/stat`, 'utf8')
    const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14).map(Number)
    const ticks = (user ?? 0) + (system ?? 0)
    const before = cpu.get(name)
    cpu.set(name, { at, ticks })
    measurements.add(name, 'file descriptors', 'count', fs.readdirSync(`${place}/fd`).length)
    if (before !== undefined) {
      const seconds = (at - before.at) / 1_000
      measurements.add(name, 'CPU', '%', (((ticks - before.ticks) / TICKS) * 100) / seconds)
    }
    const file = path.join(memoryFolder, String(suite.pid(name)))
    if (!fs.existsSync(file)) return
    const memory = JSON.parse(fs.readFileSync(file, 'utf8')) as Memory
    measurements.add(name, 'own memory', 'bytes', memory.own)
    measurements.add(name, 'heap', 'bytes', memory.heap)
    measurements.add(name, 'external memory', 'bytes', memory.external)
    // V8 compiles for hours what seldom runs. The own memory of the process includes it.
    measurements.add(name, 'compiled code', 'bytes', memory.code, { isJudged: false })
  }

  const samplePostgres = async () => {
    const client = await database.connection()
    const connections = await database.number(
      'SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )
    measurements.add('postgres', 'connections', 'count', connections)
    const { rows } = await client.query<{ name: string; rows: number; bytes: number }>(
      `SELECT coalesce(p.relname, c.relname) AS name, sum(s.n_live_tup)::float8 AS rows,
              sum(pg_total_relation_size(c.oid))::float8 AS bytes
         FROM pg_class c JOIN pg_stat_user_tables s ON s.relid = c.oid AND s.schemaname = 'public'
         LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent
        GROUP BY 1`,
    )
    for (const table of rows) {
      const isJudged = !HISTORY.has(table.name)
      measurements.add('postgres', `size of ${table.name}`, 'bytes', table.bytes, { isJudged })
      const count = isJudged ? await database.number(`SELECT count(*) FROM ${table.name}`) : table.rows
      measurements.add('postgres', `rows of ${table.name}`, 'count', count, { isJudged })
    }
    for (const [name, sql] of Object.entries(WAITING)) {
      measurements.add('postgres', name, 'count', await database.number(sql))
    }
  }

  const sampleRabbit = async () => {
    for (const [name, length] of Object.entries(await queueLengths(suite.namespace))) {
      measurements.add('rabbitmq', `length of ${name}`, 'count', length ?? 0)
    }
    if (uptime() < askedRabbitAt + RABBITMQCTL_EVERY_MS) return
    askedRabbitAt = uptime()
    const listed = await servers.rabbitmq.control('-q', '--no-table-headers', 'list_connections', 'channels')
    const channels = listed.split('\n').flatMap((line) => (line === '' ? [] : [Number(line)]))
    measurements.add('rabbitmq', 'connections', 'count', channels.length)
    measurements.add(
      'rabbitmq',
      'channels',
      'count',
      channels.reduce((sum, one) => sum + one, 0),
    )
  }

  const sampleRedis = async () => {
    for await (const keys of redis.scanStream({ type: 'stream', count: 500 }) as AsyncIterable<string[]>) {
      for (const key of keys) {
        const left = await redis.pttl(key)
        if (left >= 0 && left < LIVE_LOG_KEPT_MS - LIVE_LOG_MS) await redis.del(key)
      }
    }
    const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
    measurements.add('redis', 'memory', 'bytes', used)
    measurements.add('redis', 'keys', 'count', await redis.dbsize())
  }

  return {
    async sample() {
      measurements.add(FLOOR.place, FLOOR.name, 'ms', measureFloor(), { isJudged: false })
      names.forEach(sampleProcess)
      await Promise.all([samplePostgres(), sampleRabbit(), sampleRedis()])
    },
    async close() {
      redis.disconnect()
      await database.close()
    },
  }
}
