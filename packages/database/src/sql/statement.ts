import type pg from 'pg'
import { encoded, type SqlType } from './types.ts'

/** Accepts statements: the pool, or one connection inside a transaction. */
export interface Queryable {
  query<R extends pg.QueryResultRow = pg.QueryResultRow>(
    statement: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<R>>
}

/** Types of parameters or of columns, by name. */
export type Columns = Readonly<Record<string, SqlType<unknown>>>
type Values<C> = { [K in keyof C]: C[K] extends SqlType<infer T> ? T : never }
type Taken<T> = T extends (infer E)[] ? readonly E[] : T
/** A statement without parameters has no argument. */
type Given<P> = keyof P extends never ? [] : [values: { [K in keyof P]: Taken<Values<P>[K]> }]

/** One row for `runRows`: an element of each list parameter. */
type Listed<P> = { [K in keyof P]: P[K] extends SqlType<(infer E)[]> ? E : never }

interface Declaration<P, R> {
  /** Unique, such as `gateway.users.page`: pg_stat_statements and the logs of Postgres show it before the SQL. */
  name: string
  /** Their places in the SQL are written `:name`. */
  parameters?: P
  /** The columns of the result. */
  row?: R
  sql: string
  /**
   * Postgres plans each call for the present size of the tables and, in the gateway, for the values of the call. Use it only if
   * a goal of docs/performance.md fails without it, and name the goal.
   */
  planEachCall?: true
}

/** The row type of a statement: `RowOf<typeof findHeads>`. */
export type RowOf<S> = S extends Statement<infer _, infer R> ? Values<R> : never

/** SQL with a name and types. A test compares the types with the schema of the database. */
export class Statement<P, R> {
  readonly name: string
  readonly parameters: Columns
  readonly row: Columns
  readonly text: string
  readonly #planEachCall: boolean
  /** Columns that are never null. */
  readonly #filled: string[]

  constructor({ name, parameters = {} as P, row = {} as R, sql, planEachCall }: Declaration<P, R>) {
    this.name = name
    this.parameters = parameters as Columns
    this.row = row as Columns
    this.#planEachCall = planEachCall === true
    this.#filled = Object.keys(this.row).filter((column) => this.row[column]?.nulls !== 'allowed')
    const places = new Map(Object.keys(this.parameters).map((parameter, index) => [parameter, `$${index + 1}`]))
    this.text = `/* ${name} */ ${sql.replaceAll(/(?<![:\w]):(\w+)/g, (found, word) => places.get(word) ?? found)}`
  }

  async all(db: Queryable, ...given: Given<P>): Promise<Values<R>[]> {
    const { rows } = await this.#send(db, given)
    for (const row of rows) {
      for (const column of this.#filled) {
        if (row[column] === null) throw new Error(`${this.name}: the column ${column} is null; declare it nullable`)
      }
    }
    return rows as Values<R>[]
  }

  /** Returns the first row, or null. */
  async first(db: Queryable, ...given: Given<P>): Promise<Values<R> | null> {
    return (await this.all(db, ...given))[0] ?? null
  }

  /** Returns the only row of a statement that always has one. */
  async one(db: Queryable, ...given: Given<P>): Promise<Values<R>> {
    const row = await this.first(db, ...given)
    if (row === null) throw new Error(`${this.name} returned no row`)
    return row
  }

  /** Returns how many rows the statement wrote. */
  async run(db: Queryable, ...given: Given<P>): Promise<number> {
    return (await this.#send(db, given)).rowCount ?? 0
  }

  /** Writes rows with a statement whose parameters are all arrays. Each field of the rows becomes one array. */
  async runRows(db: Queryable, rows: readonly Listed<P>[]): Promise<number> {
    if (rows.length === 0) return 0
    const fields = Object.keys(this.parameters) as (keyof P & string)[]
    const lists = Object.fromEntries(fields.map((field) => [field, rows.map((row) => row[field])]))
    return (await this.#send(db, [lists])).rowCount ?? 0
  }

  #send(db: Queryable, [given = {}]: [values?: Readonly<Record<string, unknown>>]) {
    const values = Object.entries(this.parameters).map(([name, type]) => encoded(type, given[name]))
    return db.query({ ...(this.#planEachCall ? {} : { name: this.name }), text: this.text, values })
  }
}

/** All statements whose files are loaded, by name. */
export const statements = new Map<string, Statement<unknown, unknown>>()

/** Declares a statement: a short one in the file that uses it, others in a file `*.sql.ts` beside it. */
export function statement<P extends Columns = Record<never, never>, R extends Columns = Record<never, never>>(
  declaration: Declaration<P, R>,
): Statement<P, R> {
  if (statements.has(declaration.name)) throw new Error(`There are two statements named ${declaration.name}`)
  const made = new Statement<P, R>(declaration)
  statements.set(declaration.name, made as unknown as Statement<unknown, unknown>)
  return made
}
