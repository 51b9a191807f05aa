import { ConnectionError, NotSlipwayError } from '@slipway/client'

/** Without an answer for so long, the page says so. */
const SILENCE_MS = 3_000
/** A request may take so long in any case. An idle page asks seldom, so the silence may have begun long before. */
const PATIENCE_MS = 2_000
/** One answer may take its time. Then a probe finds out whether the server answers at all. */
const PROBE_AFTER_MS = 800
const PROBE_EVERY_MS = 2_000

interface Surroundings {
  /** Asks the server for anything. The answer arrives with `answered`. */
  probe: () => Promise<void>
  now: () => number
  /** Calls `work` after `ms`. Returns how to stop that. */
  after: (ms: number, work: () => void) => () => void
}

/** What the page knows of the server. An object stays the same until something in it changes. */
export interface ServerState {
  isSilent: boolean
  /** When the server answered last before its silence; null before the first silence. */
  lastNewsAt: number | null
  /** When the last silence ended; null before that. */
  returnedAt: number | null
}

/** Finds out when the server stops to answer, and when it answers again. It asks only after the page has asked. */
export class ServerNews {
  #state: ServerState = { isSilent: false, lastNewsAt: null, returnedAt: null }
  #lastNewsAt: number
  #isWaiting = false
  #stops: (() => void)[] = []
  readonly #listeners = new Set<() => void>()
  readonly #surroundings: Surroundings

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
    // The page itself was an answer.
    this.#lastNewsAt = surroundings.now()
  }

  get state(): ServerState {
    return this.#state
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The page has sent a request. */
  asked(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    const { after, now } = this.#surroundings
    const untilSilence = Math.max(PATIENCE_MS, this.#lastNewsAt + SILENCE_MS - now())
    this.#stops = [after(PROBE_AFTER_MS, () => void this.#probe()), after(untilSilence, () => this.#fallSilent())]
  }

  /** The server has answered a request. */
  answered(): void {
    this.pause()
    this.#lastNewsAt = this.#surroundings.now()
    if (this.#state.isSilent) this.#set({ ...this.#state, isSilent: false, returnedAt: this.#lastNewsAt })
  }

  /** Waits for nothing until the next request: nobody looks at the page, or the machine was asleep. */
  pause(): void {
    this.#isWaiting = false
    for (const stop of this.#stops.splice(0)) stop()
  }

  #fallSilent(): void {
    if (this.#state.isSilent) return
    this.#set({ ...this.#state, isSilent: true, lastNewsAt: this.#lastNewsAt })
  }

  async #probe(): Promise<void> {
    await this.#surroundings.probe()
    if (this.#isWaiting) this.#stops.push(this.#surroundings.after(PROBE_EVERY_MS, () => void this.#probe()))
  }

  #set(state: ServerState): void {
    this.#state = state
    for (const listener of this.#listeners) listener()
  }
}

/** Whether the server answered: not a proxy in front of it, whose pages for a dead server lack this header. */
export const isAnswer = ({ headers }: Pick<Response, 'headers'>): boolean => headers.has('x-request-id')

/** Whether an error only says that the server did not answer. */
export const isOfSilence = (error: Error): boolean =>
  error instanceof ConnectionError || error instanceof NotSlipwayError

interface Failure {
  error: Error | null
  errorUpdatedAt?: number
}

/**
 * Whether a failed read needs no alert of its own: the page says already that the server is silent. This holds until
 * the read was tried again.
 */
export const isToldAlready = ({ error, errorUpdatedAt = 0 }: Failure, { isSilent, returnedAt }: ServerState): boolean =>
  error !== null && isOfSilence(error) && (isSilent || errorUpdatedAt <= (returnedAt ?? 0))
