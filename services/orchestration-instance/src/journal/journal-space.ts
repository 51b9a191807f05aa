/** The gap between full and free again, so that waiting commands do not start and stop with every line. */
const MAX_SLACK_BYTES = 4 * 1024 * 1024

/** How many bytes of unacknowledged events are in the journals of all runs. */
export class JournalSpace {
  readonly maxBytes: number
  #used = 0
  #whenFree: { promise: Promise<void>; resolve: () => void } | null = null

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  take(bytes: number): void {
    this.#used += bytes
  }

  give(bytes: number): void {
    this.#used -= bytes
    if (this.#used > this.maxBytes - Math.min(MAX_SLACK_BYTES, this.maxBytes / 2)) return
    this.#whenFree?.resolve()
    this.#whenFree = null
  }

  /** Undefined while there is room, else a promise that resolves when there is. */
  whenFree(): Promise<void> | undefined {
    if (this.#used < this.maxBytes) return undefined
    if (!this.#whenFree) {
      let resolve = () => {}
      const promise = new Promise<void>((done) => {
        resolve = done
      })
      this.#whenFree = { promise, resolve }
    }
    return this.#whenFree.promise
  }
}
