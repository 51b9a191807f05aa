/** A generator of random numbers that repeats itself for the same seed: sfc32, seeded by splitmix32. */
export class Random {
  readonly #state: [number, number, number, number]

  constructor(seed: number) {
    let word = seed | 0
    const split = () => {
      word = (word + 0x9e3779b9) | 0
      let mixed = word ^ (word >>> 16)
      mixed = Math.imul(mixed, 0x21f0aaad)
      mixed ^= mixed >>> 15
      mixed = Math.imul(mixed, 0x735a2d97)
      return (mixed ^ (mixed >>> 15)) | 0
    }
    this.#state = [split(), split(), split(), 1]
    for (let n = 0; n < 12; n += 1) this.next()
  }

  /** From 0 to below 1. */
  next(): number {
    const state = this.#state
    const sum = (((state[0] + state[1]) | 0) + state[3]) | 0
    state[3] = (state[3] + 1) | 0
    state[0] = state[1] ^ (state[1] >>> 9)
    state[1] = (state[2] + (state[2] << 3)) | 0
    state[2] = (((state[2] << 21) | (state[2] >>> 11)) + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }

  /** A whole number from `least` to `most`, both included. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  /** Small values are as likely as large ones: each power of two has the same chance. */
  logarithmic(least: number, most: number): number {
    return Math.round(least * (most / least) ** this.next())
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(list: readonly T[]): T {
    const picked = list[Math.floor(this.next() * list.length)]
    if (picked === undefined) throw new Error('nothing to pick from')
    return picked
  }

  /** The more weight, the more often. */
  pickWeighted<T extends { weight: number }>(list: readonly T[]): T {
    let place = this.next() * list.reduce((sum, { weight }) => sum + weight, 0)
    for (const one of list) {
      place -= one.weight
      if (place < 0) return one
    }
    return this.pick(list)
  }

  /** A seed for a generator of its own, so that what one part draws does not change what another one gets. */
  seedFor(): number {
    return Math.floor(this.next() * 2 ** 31)
  }
}
