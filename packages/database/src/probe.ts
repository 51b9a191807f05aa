import { TIMED_OUT, withTimeout } from '@slipway/runtime'
import type pg from 'pg'
import { WatchedClient } from './watched-client.ts'

/** `silent`: the server did not answer. `refused`: the server answered with an error. */
type ProbeAnswer<Row> = { rows: Row[] } | 'silent' | 'refused'

/**
 * A connection outside the pool that checks whether the server answers. A late answer closes the connection, and the next check
 * opens a new one.
 */
export class Probe {
  readonly #config: pg.ClientConfig
  #connected: Promise<WatchedClient> | undefined
  #client: WatchedClient | undefined

  constructor(config: pg.ClientConfig) {
    this.#config = config
  }

  async ask<Row extends pg.QueryResultRow>(
    statement: string,
    values: unknown[],
    milliseconds: number,
  ): Promise<ProbeAnswer<Row>> {
    this.#connected ??= this.#connect()
    const connected = this.#connected
    try {
      const asking = connected.then((client): Promise<pg.QueryResult<Row>> => client.query(statement, values))
      const answer = await withTimeout(milliseconds, asking)
      if (answer !== TIMED_OUT) return { rows: answer.rows }
    } catch (error) {
      if (connected === this.#connected) this.close()
      // Errors of the server have a severity, errors of sockets do not.
      return (error as { severity?: unknown }).severity === undefined ? 'silent' : 'refused'
    }
    if (connected === this.#connected) this.close()
    return 'silent'
  }

  close(): void {
    this.#connected?.catch(() => {})
    this.#connected = undefined
    this.#client?.destroy()
    this.#client = undefined
  }

  async #connect(): Promise<WatchedClient> {
    const client = new WatchedClient(this.#config)
    this.#client = client
    await client.connect()
    return client
  }
}
