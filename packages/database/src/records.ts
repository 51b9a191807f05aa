import type {
  Transaction as AdapterTransaction,
  SqlDriverAdapter,
  SqlDriverAdapterFactory,
} from '@prisma/driver-adapter-utils'
import pg from 'pg'
import type { Prisma, PrismaClient } from './generated/client.ts'
import type { Queryable } from './sql/statement.ts'

/** Reads and writes records by Prisma. */
export type Records = Prisma.TransactionClient

/** Prisma within a transaction. `close` ends its use, and throws if Prisma gave the transaction up. */
export interface OpenRecords {
  records: Records
  close(): Promise<void>
}

interface Times {
  maxWait: number
  timeout: number
}

/**
 * Opens Prisma on connections that have begun a transaction. Prisma sends its statements on that connection, and neither begins nor
 * commits: that stays with the caller.
 */
export class TransactionRecords {
  readonly #times: Times
  #client: Promise<PrismaClient> | undefined
  /** The connection for the transaction that Prisma starts next. */
  #next: Queryable | undefined
  #starting: Promise<unknown> = Promise.resolve()

  constructor(times: Times) {
    this.#times = times
  }

  /** Prisma does not say for which call it starts a transaction, so one starts at a time. That takes no round trip. */
  open(connection: Queryable): Promise<OpenRecords> {
    const opening = this.#starting.then(() => this.#start(connection))
    this.#starting = opening.catch(() => {})
    return opening
  }

  async close(): Promise<void> {
    await (await this.#client)?.$disconnect()
  }

  async #start(connection: Queryable): Promise<OpenRecords> {
    this.#client ??= this.#load()
    const client = await this.#client
    this.#next = connection
    return new Promise((resolve, reject) => {
      let end = () => {}
      const ended = new Promise<void>((over) => {
        end = over
      })
      const using = client.$transaction(async (records) => {
        const close = () => {
          end()
          return using
        }
        resolve({ records, close })
        await ended
      }, this.#times)
      using.catch((error: unknown) => {
        // A start that Prisma gave up must not get its connection later.
        if (this.#next === connection) this.#next = undefined
        reject(error)
      })
    })
  }

  async #load(): Promise<PrismaClient> {
    const [{ PrismaClient }, { PrismaPg }] = await Promise.all([
      import('./generated/client.ts'),
      import('@prisma/adapter-pg'),
    ])
    const on = (pool: pg.Pool) => new PrismaPg(pool).connect()
    const refuse = () => Promise.reject(new Error('records of a transaction are read and written on its connection'))
    const { provider, adapterName } = new PrismaPg(new pg.Pool())
    const outside: SqlDriverAdapter = {
      provider,
      adapterName,
      queryRaw: refuse,
      executeRaw: refuse,
      executeScript: refuse,
      getConnectionInfo: () => ({ supportsRelationJoins: true }),
      startTransaction: async () => {
        const connection = this.#next
        this.#next = undefined
        return connection === undefined ? refuse() : transactionOn(await on(poolOf(connection)))
      },
      dispose: async () => {},
    }
    const adapter: SqlDriverAdapterFactory = { provider, adapterName, connect: async () => outside }
    return new PrismaClient({ adapter })
  }
}

/** Prisma's adapter for node-postgres sends to a pool. This one has a single connection, which is in use. */
const poolOf = ({ query }: Queryable): pg.Pool => Object.assign(new pg.Pool(), { query })

/** A transaction that another one begins and ends. */
function transactionOn(connection: SqlDriverAdapter): AdapterTransaction {
  return {
    provider: connection.provider,
    adapterName: connection.adapterName,
    queryRaw: (query) => connection.queryRaw(query),
    executeRaw: (query) => connection.executeRaw(query),
    // Prisma sends no COMMIT and no ROLLBACK: it calls these functions alone.
    options: { usePhantomQuery: true },
    commit: async () => {},
    rollback: async () => {},
  }
}
