/**
 * Decides which targets may start: in the given order, batch after batch, never more than `limit` at a time. The three target
 * modes differ only in the batch size: one, all, or the configured one.
 */
export class Turns {
  readonly #order: readonly number[]
  readonly #batchSize: number
  readonly #limit: number
  #position = 0
  #active = 0

  constructor(order: readonly number[], batchSize: number, limit: number) {
    if (!(batchSize >= 1 && limit >= 1)) throw new RangeError('Batch size and parallel limit must be at least 1')
    this.#order = order
    this.#batchSize = batchSize
    this.#limit = limit
  }

  /** The next target that may begin, or undefined. The caller returns the turn of a target with `leave`. */
  take(): number | undefined {
    if (this.#active >= this.#limit) return undefined
    if (this.#active > 0 && this.#position % this.#batchSize === 0) return undefined
    const target = this.#order[this.#position]
    if (target === undefined) return undefined
    this.#position += 1
    this.#active += 1
    return target
  }

  /** At most `count` targets that begin next, of the present batch only. */
  upcoming(count: number): readonly number[] {
    const inBatch = this.#position % this.#batchSize
    if (inBatch === 0) return []
    return this.#order.slice(this.#position, this.#position + Math.min(count, this.#batchSize - inBatch))
  }

  leave(): void {
    this.#active -= 1
  }
}
