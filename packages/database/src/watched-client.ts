import type { Socket } from 'node:net'
import pg from 'pg'

/** What the types of pg leave out. */
interface Internals {
  connection: { stream: Socket }
  /** False while an answer to a statement is missing; undefined until connected. */
  readyForQuery: boolean | undefined
  _ending: boolean
}

/** A connection that tells whether the server answers on it, so that a half-open one can be found and closed. */
export class WatchedClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config)
    // A connection that breaks between two statements fails the next one. Without a listener the event ends the process.
    this.on('error', () => {})
  }

  /** Whether the server owes an answer to a statement, or its end of the connection. */
  get isWaiting(): boolean {
    const { readyForQuery, _ending } = this.#internals
    return readyForQuery !== undefined && (!readyForQuery || _ending)
  }

  /** Grows with each answer of the server. */
  get bytesRead(): number {
    return this.#internals.connection.stream.bytesRead
  }

  /** Closes the connection at once. Statements that wait for an answer fail as by a lost connection. */
  destroy(): void {
    this.#internals.connection.stream.destroy()
  }

  get #internals(): Internals {
    return this as unknown as Internals
  }
}
