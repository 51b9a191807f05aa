import pg from 'pg'

/** A bound on what each connection keeps in the server's memory; statements beyond it are parsed each time. */
const MAX_STATEMENTS = 500

const names = new Map<string, string>()

/**
 * Has each connection parse and plan a statement once: under row-level security that costs more than running it.
 * Statements without parameters, and those that Prisma writes, go as they are.
 */
export class PreparingClient extends pg.Client {
  // Overloads of the base class cannot be repeated one by one: the arguments go through as they came.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  override query(...given: any[]): any {
    const [statement, values, ...rest] = given
    if (typeof statement !== 'string' || !Array.isArray(values) || values.length === 0) {
      return Reflect.apply(super.query, this, given)
    }
    const name = nameOf(statement)
    const config = name === undefined ? { text: statement, values } : { name, text: statement, values }
    return Reflect.apply(super.query, this, [config, ...rest])
  }
}

function nameOf(statement: string): string | undefined {
  const known = names.get(statement)
  if (known !== undefined || names.size >= MAX_STATEMENTS) return known
  const name = `s${names.size + 1}`
  names.set(statement, name)
  return name
}
