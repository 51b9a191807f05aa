/** The gap between full and free again, so that waiting commands do not start and stop with every line. */
const MAX_SLACK_BYTES = 4 * 1024 * 1024

/** Counts the bytes of unacknowledged events in the journals of all runs. */
export class JournalSpace {
  readonly maxBytes: number
  #used = 0
  #whenFree: { promise: Promise<void>; resolve: () => void } | null = null

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  add(bytes: number): void {
    this.#used += bytes
  }

  remove(bytes: number): void {
    this.#used -= bytes
    if (this.#used > this.maxBytes - Math.min(MAX_SLACK_BYTES, this.maxBytes / 2)) return
    this.#whenFree?.resolve()
    this.#whenFree = null
  }

  /** Undefined below the limit, else a promise that resolves when the count is below it. */
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
