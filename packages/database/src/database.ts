import { type Logger, sleep } from '@slipway/runtime'
import pg from 'pg'
import { failpointOfCommit, failpointOfStatement, noteStatement } from './commit-points.ts'
import { ConnectionWatch, WATCH_BOUNDS, type WatchBounds } from './connection-watch.ts'
import { isCollision } from './failures.ts'
import type { PrismaClient } from './generated/client.ts'
import { Probe } from './probe.ts'
import { type OpenRecords, type Records, TransactionRecords } from './records.ts'
import type { Queryable } from './sql/statement.ts'
import { TenantPool, tenantOption } from './tenant.ts'
import { WatchedClient } from './watched-client.ts'

export interface DatabaseOptions {
  url: string
  /** Shown in pg_stat_activity. */
  applicationName: string
  /** The most connections. The sum over all processes must be below the server's max_connections. */
  max?: number
  /**
   * The rows that the connections see. `*`: all, for a service that acts for all tenants. `current`: the rows of the tenant
   * that `forTenant` sets, and none without it.
   */
  tenant?: '*' | 'current'
  /** Logs connections on which the server does not answer. */
  logger?: Logger
  /** Other bounds than DATABASE_BOUNDS: a test does not wait for seconds. */
  bounds?: Partial<DatabaseBounds>
}

/** A transaction takes statements for sets, locks, queues and batches, and Prisma for records. */
export interface Transaction extends Queryable {
  /** Records in this transaction. They share its connection with the statements, in the order in which they are sent. */
  prisma(): Promise<Records>
  /** It is always rolled back. A lock that protects only what is committed would keep others waiting for nothing. */
  readonly isRehearsal: boolean
}

export interface Database extends Queryable {
  /**
   * Records outside of a transaction. Loads Prisma at the first call: it is a large part of a service's code, and most services never
   * use it.
   */
  prisma(): Promise<Records>
  pool: pg.Pool
  /** The pool, and the separate pool for callers who see all tenants, if there is one. */
  pools: readonly pg.Pool[]
  /**
   * Runs `work` in a transaction. Commits, or rolls back if `work` throws. After a serialization failure or a deadlock it runs
   * `work` again, so `work` must have no effect outside the database.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** Runs reads in a read-only transaction that sees one snapshot. */
  snapshot<T>(work: (tx: Queryable) => Promise<T>): Promise<T>
  /** Runs reads on one connection. Reads that are sent together, for example by Promise.all, take one round trip. */
  together<T>(work: (connection: Queryable) => Promise<T>): Promise<T>
  /**
   * Whether the server answers within 0.8 s on a connection outside the pool. If all connections of the pool are in use,
   * whether the server answers on any of them.
   */
  isUp(): Promise<boolean>
  close(): Promise<void>
}

/** A database with connections of its own. */
export interface OpenDatabase extends Database {
  prisma(): Promise<PrismaClient>
}

// bigint becomes number: our values count events, lines and epochs, far below 2^53.
const BIGINT = 20
pg.types.setTypeParser(BIGINT, Number)

const MAX_ATTEMPTS = 5

export interface DatabaseBounds extends WatchBounds {
  /** The longest wait for a connection, a new or a used one. */
  connectionMs: number
  /** How long `isUp` waits for an answer. */
  upMs: number
}

export const DATABASE_BOUNDS: DatabaseBounds = {
  connectionMs: 5_000,
  // Below the timeout of a readiness check.
  upMs: 800,
  ...WATCH_BOUNDS,
}

const STATEMENT_MS = 30_000
const LOCK_MS = 10_000
const UP_POLL_MS = 50
/** The client's timeout for a statement, longer than the server's. It applies if the server is gone or its answer is lost. */
const CLIENT_STATEMENT_MS = STATEMENT_MS + 5_000
/** After this time without traffic, the kernel checks whether the other side is alive, and closes the socket if not. */
const KEEP_ALIVE_MS = 10_000
/** The same on the server's side: the session of a lost client keeps its locks until then. */
const SERVER_KEEP_ALIVE = '-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=1 -c tcp_keepalives_count=5'
/**
 * Longer than the timeouts of pool and server, because their errors say more. Prisma's defaults, 2 and 5 s, would end
 * transactions that are only slow.
 */
const prismaTimes = (connectionMs: number) => ({ maxWait: 2 * connectionMs, timeout: LOCK_MS + connectionMs })

/**
 * For services that act for all tenants. They look rows up by key, so a plan for the values of each call gains nothing and costs CPU
 * (goal: create throughput). The gateway's optional filters need plans for their values.
 */
const GENERIC_PLANS = '-c plan_cache_mode=force_generic_plan'

/** Opens the pool that Prisma and statements share. Connects at the first use; `isUp` shows a server that is down. */
export function createDatabase({
  url,
  applicationName,
  max = 10,
  tenant = 'current',
  logger,
  bounds = {},
}: DatabaseOptions): OpenDatabase {
  const { connectionMs, upMs, ...watchBounds } = { ...DATABASE_BOUNDS, ...bounds }
  const { connectionString, options } = withoutOptions(url)
  const connection = {
    connectionString,
    // Without JIT: Postgres takes longer to compile a large insert than to run it (goal: large plans created).
    options: `${options} -c jit=off ${SERVER_KEEP_ALIVE}`,
    application_name: applicationName,
    connectionTimeoutMillis: connectionMs,
    statement_timeout: STATEMENT_MS,
    lock_timeout: LOCK_MS,
    idle_in_transaction_session_timeout: LOCK_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  }
  const config = {
    ...connection,
    max,
    idleTimeoutMillis: 30_000,
    Client: WatchedClient,
    // A connection sends the next statement before the last answer, so independent statements take one round trip.
    pipeline: true,
  }
  const pool =
    tenant === 'current'
      ? new TenantPool(config)
      : new pg.Pool({ ...config, options: `${config.options} ${GENERIC_PLANS} ${tenantOption(tenant)}` })
  const pools = pool instanceof TenantPool ? pool.pools : [pool]
  const probe = new Probe({ ...connection, pipeline: true })
  const watch = new ConnectionWatch({ probe, boundMs: CLIENT_STATEMENT_MS, logger, ...watchBounds })
  for (const each of pools) {
    // An idle connection that breaks is replaced at its next use. Without a listener the event ends the process.
    each.on('error', () => {})
    each.on('connect', (client) => {
      if (client instanceof WatchedClient) watch.add(client)
    })
  }
  let loaded: Promise<PrismaClient> | undefined
  const prisma = () => {
    loaded ??= loadPrisma(pool, prismaTimes(connectionMs))
    return loaded
  }
  const transactionRecords = new TransactionRecords(prismaTimes(connectionMs))

  async function once<T>(begin: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    const { connection, end } = lend(client)
    let opened: Promise<OpenRecords> | undefined
    const prisma = async () => {
      opened ??= transactionRecords.open(connection)
      return (await opened).records
    }
    const tx: Transaction = Object.assign(connection, { prisma, isRehearsal: false })
    let broken: Error | undefined
    try {
      const [, result] = await Promise.all([client.query(begin), work(tx)])
      await (await opened)?.close()
      end()
      failpointOfCommit(tx, 'before')
      await client.query('COMMIT')
      failpointOfCommit(tx, 'after')
      return result
    } catch (error) {
      end()
      opened?.then((records) => records.close()).catch(() => {})
      await client.query('ROLLBACK').catch((failure: Error) => {
        broken = failure
      })
      throw error
    } finally {
      client.release(broken)
    }
  }

  return {
    prisma,
    pool,
    pools,
    async query<R extends pg.QueryResultRow>(statement: string | pg.QueryConfig, values?: unknown[]) {
      failpointOfStatement(statement, 'before')
      const result = await pool.query<R>(statement, values)
      failpointOfStatement(statement, 'after')
      return result
    },
    transaction: (work) => retrying(() => once('BEGIN', work)),
    snapshot: (work) => retrying(() => once('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work)),
    async together(work) {
      const client = await pool.connect()
      const { connection, end } = lend(client)
      try {
        return await work(connection)
      } finally {
        end()
        client.release()
      }
    },
    async isUp() {
      const until = performance.now() + upMs
      const heardBefore = watch.bytesRead
      const answer = await probe.ask('SELECT 1', [], upMs)
      const hasRoom = pools.every(({ idleCount, totalCount }) => idleCount > 0 || totalCount < max)
      if (typeof answer === 'object' && hasRoom) return true
      while (watch.bytesRead === heardBefore && performance.now() < until) await sleep(UP_POLL_MS)
      return watch.bytesRead !== heardBefore
    },
    async close() {
      await Promise.all([loaded?.then((client) => client.$disconnect()), transactionRecords.close()])
      if (!pool.ended) await pool.end()
      watch.stop()
      probe.close()
    },
  }
}

async function loadPrisma(pool: pg.Pool, transactionOptions: ReturnType<typeof prismaTimes>): Promise<PrismaClient> {
  const [{ PrismaClient }, { PrismaPg }] = await Promise.all([
    import('./generated/client.ts'),
    import('@prisma/adapter-pg'),
  ])
  return new PrismaClient({ adapter: new PrismaPg(pool), transactionOptions })
}

async function retrying<T>(once: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once()
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isCollision(error)) throw error
    }
  }
}

/**
 * Runs work inside a transaction with a savepoint. If the work fails, its changes are undone and the transaction continues. The
 * first statements of the work are sent together with the savepoint.
 */
export async function attempt<T>(tx: Queryable, work: (tx: Queryable) => Promise<T>): Promise<T> {
  const { connection, end } = lend(tx)
  try {
    const [, result] = await Promise.all([tx.query('SAVEPOINT attempt'), work(connection)])
    // If this fails, the next statement fails too.
    tx.query('RELEASE SAVEPOINT attempt').catch(() => {})
    return result
  } catch (error) {
    end()
    // If the connection is lost, so is the transaction, and the first error says why. The savepoint goes too: an attempt inside another
    // one would leave it behind under the same name, and the outer one would roll back to it.
    await Promise.all(['ROLLBACK TO SAVEPOINT attempt', 'RELEASE SAVEPOINT attempt'].map((sql) => tx.query(sql))).catch(
      () => {},
    )
    throw error
  }
}

/**
 * Lends a connection until `end`. If one of several statements fails, later code may still send others: they must not run
 * outside the transaction, or for the next tenant on this connection.
 */
function lend(client: Queryable): { connection: Queryable; end(): void } {
  let ended = false
  const connection: Queryable = {
    query<R extends pg.QueryResultRow>(statement: string | pg.QueryConfig, values?: unknown[]) {
      if (ended) {
        return Promise.reject(new Error('the connection was returned before this statement: await each statement'))
      }
      const sent = client.query<R>(statement, values)
      noteStatement(connection, statement, sent)
      return sent
    },
  }
  return {
    connection,
    end() {
      ended = true
    },
  }
}

/** Options in the URL would replace the options beside it, including the tenant. */
function withoutOptions(url: string): { connectionString: string; options: string } {
  if (!URL.canParse(url)) return { connectionString: url, options: '' }
  const parsed = new URL(url)
  const options = parsed.searchParams.get('options') ?? ''
  parsed.searchParams.delete('options')
  return { connectionString: parsed.href, options }
}
