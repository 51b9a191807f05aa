/** An answer with the tag that the server gave it. */
export interface RememberedAnswer {
  etag: string
  body: unknown
}

/** Longer answers are not kept, in characters of JSON: a hundred of them must not fill the memory of a browser. */
const MAX_LENGTH = 500_000

/** The latest answers of reads by URL. */
export class AnswerMemory {
  readonly #most: number
  /** The one that was used last is the last one. */
  readonly #answers = new Map<string, RememberedAnswer>()

  constructor(most: number) {
    this.#most = most
  }

  find(url: string): RememberedAnswer | undefined {
    const found = this.#answers.get(url)
    if (found !== undefined) {
      this.#answers.delete(url)
      this.#answers.set(url, found)
    }
    return found
  }

  keep(url: string, answer: RememberedAnswer, length: number): void {
    this.#answers.delete(url)
    if (length > MAX_LENGTH || this.#most < 1) return
    this.#answers.set(url, answer)
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= this.#most) return
      this.#answers.delete(oldest)
    }
  }

  forget(): void {
    this.#answers.clear()
  }
}
