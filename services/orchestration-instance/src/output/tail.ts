/** How many characters of the end of each stream go into the result of a command. */
const TAIL_LENGTH = 2_000

/** Keeps the end of one stream. */
export class Tail {
  #text = ''

  addLine(line: string): void {
    // Cutting only at double the length is cheaper than cutting at every line.
    this.#text += `${line.slice(-TAIL_LENGTH)}\n`
    if (this.#text.length > 2 * TAIL_LENGTH) this.#text = this.#text.slice(-TAIL_LENGTH - 1)
  }

  get text(): string {
    const tail = this.#text.replace(/\n$/, '').slice(-TAIL_LENGTH)
    const first = tail.charCodeAt(0)
    return first >= 0xdc00 && first <= 0xdfff ? tail.slice(1) : tail
  }
}
