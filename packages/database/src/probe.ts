import { TIMED_OUT, withTimeout } from '@slipway/runtime'
import type pg from 'pg'
import { WatchedClient } from './watched-client.ts'

/** `silent`: the server did not answer. `refused`: it answered that it cannot serve this connection now. */
export type ProbeAnswer<Row> = { rows: Row[] } | 'silent' | 'refused'

/**
 * A connection apart from the pool on which the server is asked whether it answers. An answer that does not come in time
 * closes the connection, and the next question opens another one: a connection that is half-open is asked once.
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
      // Errors of the server have a severity, those of sockets have none.
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
