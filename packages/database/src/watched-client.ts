import type { Socket } from 'node:net'
import pg from 'pg'

/** Fields of pg that its types do not declare. */
interface Internals {
  connection: { stream: Socket }
  /** False while a statement is in progress; undefined until connected. */
  readyForQuery: boolean | undefined
  _ending: boolean
}

/** A connection that shows whether the server answers, so that half-open connections can be found and closed. */
export class WatchedClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config)
    // A connection that breaks between two statements fails the next one. Without a listener the event ends the process.
    this.on('error', () => {})
  }

  /** Whether a statement or the closing of the connection waits for the server. */
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
