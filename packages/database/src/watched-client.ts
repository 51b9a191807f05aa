import type { Socket } from 'node:net'
import pg from 'pg'

/** Fields of pg that are missing in its types. */
interface Internals {
  connection: { stream: Socket }
  /** False while a statement is in progress; undefined until connected. */
  readyForQuery: boolean | undefined
  _ending: boolean
}

/** A connection that shows whether the server answers. ConnectionWatch closes half-open ones. */
export class WatchedClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config)
    // If the connection breaks between two statements, the next one fails. Without a listener the event ends the process.
    this.on('error', () => {})
  }

  /** Whether a statement or the close waits for the server. */
  get isWaiting(): boolean {
    const { readyForQuery, _ending } = this.#internals
    return readyForQuery !== undefined && (!readyForQuery || _ending)
  }

  /** Increases with each answer of the server. */
  get bytesRead(): number {
    return this.#internals.connection.stream.bytesRead
  }

  /** Closes the connection at once. Open statements fail as after a lost connection. */
  destroy(): void {
    this.#internals.connection.stream.destroy()
  }

  get #internals(): Internals {
    return this as unknown as Internals
  }
}
