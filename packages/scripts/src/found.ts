import type { Encoding, LiteralDocument, RefusedPlace, ScriptTemplate, TemplatePlace } from '@slipway/domain'
import type { Lines, Placeholder } from './placeholders.ts'

/** A place in a script, and what people should know about it. */
export interface ScriptWarning {
  line: number
  column: number
  message: string
}

/** Collects what the rules of a language say of the templates of a script. */
export class Found {
  readonly #script: string
  readonly #lines: Lines
  readonly #places: TemplatePlace[] = []
  readonly #refused: RefusedPlace[] = []
  readonly #documents = new Map<number, LiteralDocument>()
  readonly #warnings: ScriptWarning[] = []
  #delimiters = 0

  constructor(script: string, lines: Lines) {
    this.#script = script
    this.#lines = lines
  }

  place({ name, start, end }: Placeholder, encoding: Encoding, only: 'integer' | 'number' | null = null): void {
    this.#places.push({ name, start, end, encoding, ...(only === null ? {} : { only }), ...this.#lines.at(start) })
  }

  refuse({ name, start }: Placeholder, reason: string): void {
    this.#refused.push({ name, ...this.#lines.at(start), reason })
  }

  warn({ start }: Pick<Placeholder, 'start'>, message: string): void {
    this.#warnings.push({ ...this.#lines.at(start), message })
  }

  literalDocument(document: LiteralDocument): void {
    const known = this.#documents.get(document.body.start)
    if (known === undefined) this.#documents.set(document.body.start, document)
  }

  /** A delimiter for a here-document that no line of the script equals. */
  unusedDelimiter(): string {
    for (;;) {
      this.#delimiters += 1
      const delimiter = `SLIPWAY_END_${this.#delimiters}`
      if (!this.#script.includes(delimiter)) return delimiter
    }
  }

  get template(): ScriptTemplate {
    const places = this.#places.toSorted((a, b) => a.start - b.start)
    const refused = this.#refused.toSorted((a, b) => a.line - b.line || a.column - b.column)
    return { places, refused, documents: [...this.#documents.values()] }
  }

  get warnings(): ScriptWarning[] {
    return this.#warnings
  }
}
