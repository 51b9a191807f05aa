/**
 * The time until which commands of this instance may run. Each heartbeat extends it. Watchdog processes learn of each
 * extension, and kill the commands at the end of the time. This works even if the instance hangs: then the instance cannot
 * kill commands, and its pipes and connections stay open.
 */
export class Lifeline {
  #until: number | null = null
  readonly #listeners = new Set<() => void>()

  /** `until` by performance.now(). */
  renew(until: number): void {
    this.#until = until
    for (const listener of this.#listeners) listener()
  }

  /** Whole seconds until the end, at least 0; null before the first heartbeat. */
  get secondsLeft(): number | null {
    return this.#until === null ? null : Math.max(0, Math.floor((this.#until - performance.now()) / 1_000))
  }

  /** Calls the listener after each renewal. Returns a function that removes the listener. */
  onRenewed(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
