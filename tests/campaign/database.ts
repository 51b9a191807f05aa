import { connectTo } from '@slipway/testing'
import type { Client } from 'pg'

/** A connection to the database that is opened again after a fault. */
export class OracleDatabase {
  readonly #url: string
  #client: Client | null = null

  constructor(url: string) {
    this.#url = url
  }

  async connection(): Promise<Client> {
    if (this.#client !== null) return this.#client
    let isLost = false
    const client = await connectTo(this.#url, '*', () => {
      isLost = true
      this.#client = null
    })
    if (!isLost) this.#client = client
    return client
  }

  /** The number in the only column of the only row. */
  async number(sql: string): Promise<number> {
    const { rows } = await (await this.connection()).query<{ n: number }>(`SELECT (${sql})::int AS n`)
    return rows[0]?.n ?? 0
  }

  async now(): Promise<Date> {
    const { rows } = await (await this.connection()).query<{ now: Date }>('SELECT clock_timestamp() AS now')
    return (rows[0] as { now: Date }).now
  }

  async close(): Promise<void> {
    await this.#client?.end().catch(() => {})
  }
}
