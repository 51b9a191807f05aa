import { Socket } from 'node:net'
import pg from 'pg'

/** A connection that shows whether the server answers. ConnectionWatch closes half-open ones. */
export class WatchedClient extends pg.Client {
  readonly #socket: Socket
  #isWaiting = false
  #isEnding = false

  constructor(config: pg.ClientConfig = {}) {
    // With TLS, pg encrypts what it sends on this socket.
    const socket = new Socket()
    super({ ...config, stream: () => socket })
    this.#socket = socket
    this.on('drain', () => {
      this.#isWaiting = false
    })
    // If the connection breaks between two statements, the next one fails. Without a listener the event ends the process.
    this.on('error', () => {})
  }

  // biome-ignore lint/suspicious/noExplicitAny: this covers the seven forms of pg's method
  override query(...given: any[]): any {
    this.#isWaiting = true
    return Reflect.apply(super.query, this, given)
  }

  // biome-ignore lint/suspicious/noExplicitAny: this covers both forms of pg's method
  override end(...given: any[]): any {
    this.#isEnding = true
    return Reflect.apply(super.end, this, given)
  }

  /** Whether a statement or the close waits for the server. */
  get isWaiting(): boolean {
    return this.#isWaiting || this.#isEnding
  }

  /** Increases with each answer of the server. */
  get bytesRead(): number {
    return this.#socket.bytesRead
  }

  /** Closes the connection at once. Open statements fail as after a lost connection. */
  destroy(): void {
    this.#socket.destroy()
  }
}
