/**
 * Renders templates in sh and bash scripts.
 *
 * Assigns the values to variables before the script, in single quotes, and replaces each template by a reference to its
 * variable. A shell never runs the result of an expansion as code, so a value stays data everywhere: bare, in quotes, in a
 * here-document. The reader finds out which of these it is, so that the value arrives unchanged. If the reader is wrong about a
 * script, a value may be split or misplaced, but not executed.
 */
export function renderShell(script: string, values: ReadonlyMap<string, string>): string {
  const reader = new ShellReader(script, values)
  const body = reader.read()
  const assignments = [...reader.used].map((name) => `${reference(name)}=${singleQuoted(values.get(name) ?? '')}; `)
  return assignments.join('') + body
}

function singleQuoted(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`
}

function reference(name: string): string {
  return `slipway_template_${name}`
}

const PLACEHOLDER = /\{\{[ \t]*([A-Za-z0-9_]+)[ \t]*\}\}/y
const HERE_DOCUMENT = /<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([A-Za-z0-9_]+))/y

/**
 * `start` to `end` is the text; `next` is the beginning of the line after the delimiter. `literal`: the shell expands nothing
 * in it.
 */
interface HereDocument {
  start: number
  end: number
  next: number
  literal: boolean
}

class ShellReader {
  readonly used = new Set<string>()
  readonly #script: string
  readonly #values: ReadonlyMap<string, string>
  #position = 0
  #output = ''
  /** The open double quotes and parentheses around the position. */
  readonly #open: ('"' | '(')[] = []
  readonly #documents: HereDocument[] = []

  constructor(script: string, values: ReadonlyMap<string, string>) {
    this.#script = script
    this.#values = values
  }

  read(): string {
    while (this.#position < this.#script.length) {
      if (this.#documents[0]?.start === this.#position) this.#readDocument(this.#documents.shift() as HereDocument)
      else if (this.#open.at(-1) === '"') this.#readQuoted()
      else this.#readBare()
    }
    return this.#output
  }

  #readBare(): void {
    const character = this.#script[this.#position] ?? ''
    if (this.#placeholder((expansion) => `"${expansion}"`)) return
    if (character === '<' && this.#hereDocument()) return
    if (character === "'") this.#readSingleQuoted()
    else if (character === '#' && this.#isWordStart()) this.#readComment()
    else this.#readCode(character)
  }

  #readCode(character: string): void {
    if (character === '"' || character === '(') this.#open.push(character)
    if (character === ')' && this.#open.at(-1) === '(') this.#open.pop()
    this.#copy(character === '\\' ? 2 : 1)
  }

  #readQuoted(): void {
    if (this.#placeholder((expansion) => expansion)) return
    const opens = this.#script.startsWith('$(', this.#position)
    const character = this.#script[this.#position]
    if (opens) this.#open.push('(')
    if (character === '"') this.#open.pop()
    this.#copy(opens || character === '\\' ? 2 : 1)
  }

  #readSingleQuoted(): void {
    this.#copy(1)
    while (this.#position < this.#script.length) {
      if (this.#placeholder((expansion) => `'"${expansion}"'`)) continue
      const closes = this.#script[this.#position] === "'"
      this.#copy(1)
      if (closes) return
    }
  }

  #isWordStart(): boolean {
    return this.#position === 0 || /[\s;&|()]/.test(this.#script[this.#position - 1] ?? '')
  }

  #readComment(): void {
    const end = this.#script.indexOf('\n', this.#position)
    this.#copy((end < 0 ? this.#script.length : end) - this.#position)
  }

  /** At `<<`: notes the position of the document. A literal document with templates becomes one that the shell expands. */
  #hereDocument(): boolean {
    HERE_DOCUMENT.lastIndex = this.#position
    const isHereString = /<<</.test(this.#script.slice(Math.max(this.#position - 1, 0), this.#position + 3))
    const match = isHereString ? null : HERE_DOCUMENT.exec(this.#script)
    if (!match) return false
    const [operator, tabs = '', single, double, word] = match
    const delimiter = single ?? double ?? word ?? ''
    const lineEnd = this.#script.indexOf('\n', this.#position)
    const start = this.#documents.at(-1)?.next ?? lineEnd + 1
    const end = lineEnd < 0 ? -1 : this.#endOfDocument(start, delimiter, tabs !== '')
    if (end < 0) return false
    const quoted = word === undefined || operator.includes('\\')
    const literal = quoted && /^[A-Za-z0-9_]+$/.test(delimiter) && this.#script.slice(start, end).includes('{{')
    this.#documents.push({ start, end, next: this.#lineAfter(end), literal })
    this.#output += literal ? `<<${tabs}${delimiter}` : operator
    this.#position += operator.length
    return true
  }

  /** The beginning of the line that ends the document; -1 if no line does, so the text is not a here-document. */
  #endOfDocument(start: number, delimiter: string, tabs: boolean): number {
    for (let line = start; line < this.#script.length; ) {
      const next = this.#script.indexOf('\n', line)
      const text = this.#script.slice(line, next < 0 ? undefined : next)
      if ((tabs ? text.replace(/^\t+/, '') : text) === delimiter) return line
      if (next < 0) return -1
      line = next + 1
    }
    return -1
  }

  #readDocument({ end, next, literal }: HereDocument): void {
    while (this.#position < end) {
      if (this.#placeholder((expansion) => expansion)) continue
      const character = this.#script[this.#position] ?? ''
      if (literal && /[\\$`]/.test(character)) this.#output += '\\'
      this.#copy(!literal && character === '\\' ? 2 : 1)
    }
    this.#copy(next - this.#position)
  }

  #lineAfter(position: number): number {
    const lineEnd = this.#script.indexOf('\n', position)
    return lineEnd < 0 ? this.#script.length : lineEnd + 1
  }

  /** Writes the expansion of the template at the position, if it has a value. */
  #placeholder(write: (expansion: string) => string): boolean {
    PLACEHOLDER.lastIndex = this.#position
    const match = PLACEHOLDER.exec(this.#script)
    const name = match?.[1]
    if (!match || name === undefined || !this.#values.has(name)) return false
    this.used.add(name)
    this.#output += write(`\${${reference(name)}}`)
    this.#position += match[0].length
    return true
  }

  #copy(length: number): void {
    this.#output += this.#script.slice(this.#position, this.#position + length)
    this.#position += length
  }
}
