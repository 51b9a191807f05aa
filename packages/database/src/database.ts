import { AsyncLocalStorage } from 'node:async_hooks'
import { type Logger, sleep } from '@slipway/runtime'
import pg from 'pg'
import { ConnectionWatch } from './connection-watch.ts'
import { isCollision } from './failures.ts'
import type { Prisma, PrismaClient } from './generated/client.ts'
import { Probe } from './probe.ts'
import type { Queryable } from './queryable.ts'
import { TenantPool, tenantOption } from './tenant.ts'
import { WatchedClient } from './watched-client.ts'

export interface DatabaseOptions {
  url: string
  /** Shown in pg_stat_activity. */
  applicationName: string
  /** Connections at most; the sum over all processes must stay under the server's max_connections. */
  max?: number
  /**
   * Whose rows the connections see. `*`: everybody's, for a service that acts for all tenants. `current`: those of the
   * tenant that `forTenant` names around the work, and without it nobody's.
   */
  tenant?: '*' | 'current'
  /** Hears of connections that the server does not answer on. */
  logger?: Logger
}

/** A transaction of Prisma that takes statements, too. */
export type PrismaTransaction = Prisma.TransactionClient & Queryable

export interface Database extends Queryable {
  /** Loaded when it is first asked for: it is a large part of what a service loads, and most services never use it. */
  prisma(): Promise<PrismaClient>
  pool: pg.Pool
  /** The pool, and the one of callers who see all tenants where they have their own. */
  pools: readonly pg.Pool[]
  /**
   * Runs `work` in a transaction and commits, or rolls back when it throws. Serialization failures and deadlocks run it
   * again, so it must have no effect outside the database.
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>
  /** Runs reads in a transaction that sees one moment and writes nothing. */
  snapshot<T>(work: (tx: Queryable) => Promise<T>): Promise<T>
  /** As `transaction`, for work that speaks through Prisma. */
  prismaTransaction<T>(work: (tx: PrismaTransaction) => Promise<T>): Promise<T>
  /** Runs reads on one connection: those that are sent together, as by Promise.all, cost one round trip. */
  together<T>(work: (connection: Queryable) => Promise<T>): Promise<T>
  /**
   * Whether the server answers within 0.8 s, on a connection apart from the pool. If all connections of the pool are in use,
   * whether the server answers any of them.
   */
  isUp(): Promise<boolean>
  close(): Promise<void>
}

// Timestamps stay Dates; bigints become numbers: ours count events, lines and epochs, far below 2^53.
const BIGINT = 20
pg.types.setTypeParser(BIGINT, Number)

const MAX_TRIES = 5

/** How long work waits for a connection, new or one that others have. */
const CONNECTION_MS = 5_000
const STATEMENT_MS = 30_000
const LOCK_MS = 10_000
/** Below the bound of a readiness check. */
const UP_MS = 800
const UP_POLL_MS = 50
/** The client's bound on a statement, beyond the server's own. It holds when the server is gone, or its answer is lost. */
const BOUND_TICKS = STATEMENT_MS / 1_000 + 5
/** After this long without traffic the kernel asks the other side whether it is there, and closes the socket if it is not. */
const KEEP_ALIVE_MS = 10_000
/**
 * Prisma's own bounds on a transaction, by default 2 and 5 s, are above those: of what took too long the pool and the
 * server say more, and a busy machine is no reason to give up what they still bear.
 */
const PRISMA_TRANSACTION = { maxWait: 2 * CONNECTION_MS, timeout: LOCK_MS + CONNECTION_MS }

/**
 * For services that act for all tenants. They look rows up by key, so a plan for the values of each call gains nothing; the CPU
 * time for planning makes `create` miss goal 1. The gateway's optional filters need plans for their values.
 */
const GENERIC_PLANS = '-c plan_cache_mode=force_generic_plan'

/** Opens the pool that Prisma and plain SQL share. Connects lazily: a server that is down shows in `isUp`. */
export function createDatabase({
  url,
  applicationName,
  max = 10,
  tenant = 'current',
  logger,
}: DatabaseOptions): Database {
  const { connectionString, options } = withoutOptions(url)
  const connection = {
    connectionString,
    // Postgres takes longer to compile a large insert than to run it, and `plans` misses goal 7.
    options: `${options} -c jit=off`,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECTION_MS,
    statement_timeout: STATEMENT_MS,
    lock_timeout: LOCK_MS,
    idle_in_transaction_session_timeout: STATEMENT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  }
  const config = {
    ...connection,
    max,
    idleTimeoutMillis: 30_000,
    Client: WatchedClient,
    // A connection takes the next statement before it has answered the last: independent ones cost one round trip.
    pipeline: true,
  }
  const pool =
    tenant === 'current'
      ? new TenantPool(config)
      : new pg.Pool({ ...config, options: `${config.options} ${GENERIC_PLANS} ${tenantOption(tenant)}` })
  const pools = pool instanceof TenantPool ? pool.pools : [pool]
  const probe = new Probe({ ...connection, pipeline: true })
  const watch = new ConnectionWatch({ probe, boundTicks: BOUND_TICKS, logger })
  for (const each of pools) {
    // An idle connection that breaks is replaced at its next use. Without a listener the event ends the process.
    each.on('error', () => {})
    each.on('connect', (client) => {
      if (client instanceof WatchedClient) watch.add(client)
    })
  }
  let loaded: Promise<PrismaClient> | undefined
  const prisma = () => {
    loaded ??= loadPrisma(pool)
    return loaded
  }

  async function once<T>(begin: string, work: (tx: Queryable) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    const { connection, end } = lend(client)
    let broken: Error | undefined
    try {
      const [, result] = await Promise.all([client.query(begin), work(connection)])
      end()
      await client.query('COMMIT')
      return result
    } catch (error) {
      end()
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
    query: (statement, values) => pool.query(statement, values),
    transaction: (work) => retrying(() => once('BEGIN', work)),
    snapshot: (work) => retrying(() => once('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work)),
    prismaTransaction: (work) => retrying(async () => inPrisma(await prisma(), work)),
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
      const until = performance.now() + UP_MS
      const heardBefore = watch.bytesRead
      const answer = await probe.ask('SELECT 1', [], UP_MS)
      const hasRoom = pools.every(({ idleCount, totalCount }) => idleCount > 0 || totalCount < max)
      if (typeof answer === 'object' && hasRoom) return true
      while (watch.bytesRead === heardBefore && performance.now() < until) await sleep(UP_POLL_MS)
      return watch.bytesRead !== heardBefore
    },
    async close() {
      await (await loaded)?.$disconnect()
      if (!pool.ended) await pool.end()
      watch.stop()
      probe.close()
    },
  }
}

/** Hears of the connection on which Prisma begins a transaction. */
const begun = new AsyncLocalStorage<(connection: Queryable) => void>()

async function loadPrisma(pool: pg.Pool): Promise<PrismaClient> {
  const [{ PrismaClient }, { PrismaPg }] = await Promise.all([
    import('./generated/client.ts'),
    import('@prisma/adapter-pg'),
  ])
  const factory = new PrismaPg(pool)
  const connect = factory.connect.bind(factory)
  factory.connect = async () => {
    const adapter = await connect()
    const startTransaction = adapter.startTransaction.bind(adapter)
    adapter.startTransaction = async (level) => {
      const transaction = await startTransaction(level)
      // The adapter's types hide the connection.
      begun.getStore()?.((transaction as unknown as { client: Queryable }).client)
      return transaction
    }
    return adapter
  }
  return new PrismaClient({ adapter: factory, transactionOptions: PRISMA_TRANSACTION })
}

async function inPrisma<T>(prisma: PrismaClient, work: (tx: PrismaTransaction) => Promise<T>): Promise<T> {
  let lent: ReturnType<typeof lend> | undefined
  const begin = (connection: Queryable) => {
    lent ??= lend(connection)
  }
  return begun.run(begin, () =>
    prisma.$transaction(async (tx) => {
      if (lent === undefined) throw new Error('Prisma began a transaction without a connection of the pool')
      const { query } = lent.connection
      try {
        return await work(
          new Proxy(tx, {
            get: (target, key) => (key === 'query' ? query : Reflect.get(target, key)),
          }) as PrismaTransaction,
        )
      } finally {
        lent.end()
      }
    }),
  )
}

async function retrying<T>(once: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once()
    } catch (error) {
      if (attempt === MAX_TRIES || !isCollision(error)) throw error
    }
  }
}

/**
 * Runs work within a transaction that may fail for itself: then what it did is undone, and the transaction goes on.
 * Nothing is waited for but the work: what it sends first goes with the savepoint.
 */
export async function attempt<T>(tx: Queryable, work: (tx: Queryable) => Promise<T>): Promise<T> {
  const { connection, end } = lend(tx)
  try {
    const [, result] = await Promise.all([tx.query('SAVEPOINT attempt'), work(connection)])
    // Should that fail, whatever comes next does.
    tx.query('RELEASE SAVEPOINT attempt').catch(() => {})
    return result
  } catch (error) {
    end()
    // Where the connection is gone the transaction is, too, and the first error says why.
    await tx.query('ROLLBACK TO SAVEPOINT attempt').catch(() => {})
    throw error
  }
}

/**
 * A connection until `end`. When one of several statements fails, what was to follow another of them may still be on its
 * way: it must not run outside the transaction, or for the next tenant that the connection serves.
 */
function lend(client: Queryable): { connection: Queryable; end(): void } {
  let ended = false
  return {
    connection: {
      query: (statement, values) =>
        ended ? Promise.reject(new Error('The connection is not lent any more')) : client.query(statement, values),
    },
    end() {
      ended = true
    },
  }
}

/** Options that stand in the URL would replace those that are given beside it, the tenant too. */
function withoutOptions(url: string): { connectionString: string; options: string } {
  if (!URL.canParse(url)) return { connectionString: url, options: '' }
  const parsed = new URL(url)
  const options = parsed.searchParams.get('options') ?? ''
  parsed.searchParams.delete('options')
  return { connectionString: parsed.href, options }
}
