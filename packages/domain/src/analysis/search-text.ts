const SLOTS = 1 << 14
const SEQUENCE_LENGTH = 4

/**
 * Searches a text for hundreds of words, most of which are not in the text. A filter of four-character sequences avoids most
 * of the searches.
 */
export class SearchText {
  readonly #text: string
  readonly #sequences = new Uint8Array(SLOTS)

  constructor(text: string) {
    this.#text = text
    for (let at = 0; at + SEQUENCE_LENGTH <= text.length; at++) this.#sequences[slotOf(text, at)] = 1
  }

  contains(word: string): boolean {
    return (word.length < SEQUENCE_LENGTH || this.#sequences[slotOf(word, 0)] === 1) && this.#text.includes(word)
  }
}

function slotOf(text: string, at: number): number {
  let slot = 0
  for (let n = 0; n < SEQUENCE_LENGTH; n++) slot = slot * 31 + text.charCodeAt(at + n)
  return slot & (SLOTS - 1)
}
