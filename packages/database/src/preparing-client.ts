import pg from 'pg'

/** A bound on what each connection keeps in the server's memory; statements beyond it are parsed each time. */
const MAX_STATEMENTS = 500

const names = new Map<string, string>()

/**
 * Has each connection parse and plan a statement once, for under row-level security that costs more than running it, and
 * writes the statements that are sent in one go in one piece. Statements that come without an array of values, be
 * it empty, and those that Prisma writes, are not prepared.
 */
export class PreparingClient extends pg.Client {
  #gathering = false

  constructor(config?: pg.ClientConfig) {
    super(config)
    // Breaks between two statements of whoever has it: the next one tells. Unheard, the event would end the process.
    this.on('error', () => {})
  }

  // Overloads of the base class cannot be repeated one by one: the arguments go through as they came.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  override query(...given: any[]): any {
    this.#gather()
    const [statement, values, ...rest] = given
    if (typeof statement !== 'string' || !Array.isArray(values)) {
      return Reflect.apply(super.query, this, given)
    }
    const name = nameOf(statement)
    const config = name === undefined ? { text: statement, values } : { name, text: statement, values }
    return Reflect.apply(super.query, this, [config, ...rest])
  }

  /** Holds back what is written until the code that runs now, and what it has made ready to run, is through. */
  #gather(): void {
    if (this.#gathering) return
    const { stream } = (this as unknown as { connection: { stream: import('node:net').Socket } }).connection
    this.#gathering = true
    stream.cork()
    process.nextTick(() => {
      this.#gathering = false
      stream.uncork()
    })
  }
}

function nameOf(statement: string): string | undefined {
  const known = names.get(statement)
  if (known !== undefined || names.size >= MAX_STATEMENTS) return known
  const name = `s${names.size + 1}`
  names.set(statement, name)
  return name
}
