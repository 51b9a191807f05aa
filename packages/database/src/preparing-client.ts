import type { Socket } from 'node:net'
import pg from 'pg'

/** Limits what each connection keeps in the server's memory. Further statements are parsed each time. */
const MAX_STATEMENTS = 500

const names = new Map<string, string>()

/** What the types of pg leave out. */
interface Internals {
  connection: { stream: Socket }
  /** False while an answer to a statement is missing; undefined until connected. */
  readyForQuery: boolean | undefined
  _ending: boolean
}

/**
 * Parses and plans each statement once per connection, because under row-level security planning costs more than running
 * it. Writes statements that are sent together in one piece. Statements without an array of values and those of Prisma
 * are not prepared.
 */
export class PreparingClient extends pg.Client {
  #gathering = false

  constructor(config?: pg.ClientConfig) {
    super(config)
    // A connection that breaks between two statements fails the next one. Without a listener the event ends the process.
    this.on('error', () => {})
  }

  /** Whether the server owes an answer to a statement, or its end of the connection. */
  get isWaiting(): boolean {
    const { readyForQuery, _ending } = this.#internals
    return readyForQuery !== undefined && (!readyForQuery || _ending)
  }

  /** Grows with each answer of the server. */
  get bytesRead(): number {
    return this.#internals.connection.stream.bytesRead
  }

  /** Closes the connection at once. Statements that wait for an answer fail as by a lost connection. */
  destroy(): void {
    this.#internals.connection.stream.destroy()
  }

  get #internals(): Internals {
    return this as unknown as Internals
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

  /** Holds back what is written until the present turn of the event loop ends. */
  #gather(): void {
    if (this.#gathering) return
    const { stream } = this.#internals.connection
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
