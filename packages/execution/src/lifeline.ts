/**
 * Until when commands of this instance may live, whatever becomes of the instance. Each heartbeat moves the end; what
 * watches over commands is told of it and kills them by itself when nothing more comes. That covers an instance that
 * is frozen: it cannot kill anything, and its pipes and connections stay open.
 */
export class Lifeline {
  #until: number | null = null
  readonly #listeners = new Set<() => void>()

  /** `until` by performance.now(). */
  renew(until: number): void {
    this.#until = until
    for (const listener of this.#listeners) listener()
  }

  /** Whole seconds until the end, 0 when it is over; null while no end is known. */
  get secondsLeft(): number | null {
    return this.#until === null ? null : Math.max(0, Math.floor((this.#until - performance.now()) / 1_000))
  }

  /** Calls the listener after each renewal; returns what ends that. */
  onRenewed(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
