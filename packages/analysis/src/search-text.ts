const SLOTS = 1 << 14
const LENGTH = 4

/**
 * A text in which hundreds of words are looked for, most of which are not in it: it knows which runs of four characters it may
 * hold, so that it need not be searched for each word.
 */
export class Haystack {
  readonly #text: string
  readonly #runs = new Uint8Array(SLOTS)

  constructor(text: string) {
    this.#text = text
    for (let at = 0; at + LENGTH <= text.length; at++) this.#runs[slotOf(text, at)] = 1
  }

  holds(word: string): boolean {
    return (word.length < LENGTH || this.#runs[slotOf(word, 0)] === 1) && this.#text.includes(word)
  }
}

function slotOf(text: string, at: number): number {
  let slot = 0
  for (let n = 0; n < LENGTH; n++) slot = slot * 31 + text.charCodeAt(at + n)
  return slot & (SLOTS - 1)
}
