const TEMPLATE = /\{\{[ \t]*([A-Za-z0-9_]+)[ \t]*\}\}/g
const SHORTEST = '{{x}}'.length

/** A `{{ name }}` in a script. Positions are UTF-16 units. */
export interface Placeholder {
  name: string
  start: number
  end: number
}

export function placeholdersOf(script: string): Placeholder[] {
  return Array.from(script.matchAll(TEMPLATE), ({ 0: text, 1: name = '', index }) => ({
    name,
    start: index,
    end: index + text.length,
  }))
}

/**
 * The script with a word in place of each template, or with a variable such as `${word}`. They are as long as the templates, so
 * positions stay the same.
 */
export function withWords(script: string, placeholders: readonly Placeholder[], asVariables: boolean): string {
  const word = unusedWord(script)
  const fill = (length: number) =>
    asVariables ? `\${${word.slice(0, length - 3).padEnd(length - 3, 'x')}}` : word.padEnd(length, 'x')
  const pieces: string[] = []
  let position = 0
  for (const { start, end } of placeholders) {
    pieces.push(script.slice(position, start), fill(end - start))
    position = end
  }
  pieces.push(script.slice(position))
  return pieces.join('')
}

/** A word that the script does not contain, so that it is no delimiter of a here-document. */
function unusedWord(script: string): string {
  for (let number = 0; ; number += 1) {
    const word = `q${number.toString(36).padStart(SHORTEST - 1, '0')}`
    if (!script.includes(word)) return word
  }
}

/** Line and column of a position, both from 1. */
export class Lines {
  readonly #starts: number[] = [0]

  constructor(text: string) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1)
  }

  at(position: number): { line: number; column: number } {
    let [low, high] = [0, this.#starts.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#starts[middle] ?? 0) <= position) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: position - (this.#starts[low] ?? 0) + 1 }
  }
}
