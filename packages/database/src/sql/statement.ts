import type pg from 'pg'
import { array, encoded, type SqlType } from './types.ts'

/** Accepts statements: the pool, or one connection inside a transaction. */
export interface Queryable {
  query<R extends pg.QueryResultRow = pg.QueryResultRow>(
    statement: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<R>>
}

/** Types of columns, by name. */
export type Columns = Readonly<Record<string, SqlType<unknown>>>
type Values<C> = { [K in keyof C]: C[K] extends SqlType<infer T> ? T : never }
type Taken<T> = T extends (infer E)[] ? readonly E[] : T

/** A set of rows as one parameter. The SQL has it in its FROM: `FROM :steps AS s`. */
export interface RowSet<C extends Columns> {
  readonly columns: C
  /** The name of one more column, with the place of each row in the set. The first place is 1. */
  readonly place?: string | undefined
}
export const rowSet = <C extends Columns>(columns: C, place?: string): RowSet<C> => ({ columns, place })

/** Types of parameters, by name. */
type Parameters = Readonly<Record<string, SqlType<unknown> | RowSet<Columns>>>
type Value<T> = T extends RowSet<Columns> ? RowsOf<T> : T extends SqlType<infer V> ? Taken<V> : never
type RowsOf<T> = T extends RowSet<infer C> ? readonly Row<C>[] : readonly never[]
type Row<C> = { readonly [K in keyof C]: C[K] extends SqlType<infer V> ? Taken<V> : never }
/** A statement without parameters has no argument. */
type Given<P> = keyof P extends never ? [] : [values: { [K in keyof P]: Value<P[K]> }]

interface Declaration<P, R> {
  /** Unique, such as `gateway.users.page`: pg_stat_statements and the logs of Postgres show it before the SQL. */
  name: string
  /** Their places in the SQL are written `:name`, those of a set of rows `:name AS alias`. */
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

/** A place in the SQL. `column` is null for a parameter that is no set of rows. */
interface Place {
  parameter: string
  column: string | null
  type: SqlType<unknown>
}

/** SQL with a name and types. A test compares the types with the schema of the database. */
export class Statement<P, R> {
  readonly name: string
  /** As Postgres takes them: a set of rows is one array for each column. */
  readonly parameters: Columns
  readonly row: Columns
  readonly text: string
  /** In their order. */
  readonly #places: readonly Place[]
  readonly #planEachCall: boolean
  /** Columns that are never null. */
  readonly #filled: string[]

  constructor({ name, parameters = {} as P, row = {} as R, sql, planEachCall }: Declaration<P, R>) {
    this.name = name
    const declared = Object.entries(parameters as Parameters)
    this.#places = declared.flatMap(([parameter, type]): Place[] =>
      'columns' in type
        ? Object.entries(type.columns).map(([column, of]) => ({ parameter, column, type: array(of) }))
        : [{ parameter, column: null, type }],
    )
    this.parameters = Object.fromEntries(
      this.#places.map(({ parameter, column, type }) => [column === null ? parameter : `${parameter}.${column}`, type]),
    )
    this.row = row as Columns
    this.#planEachCall = planEachCall === true
    this.#filled = Object.keys(this.row).filter((column) => this.row[column]?.nulls !== 'allowed')
    const sets = new Map(declared.flatMap(([parameter, type]) => ('columns' in type ? [[parameter, type]] : [])))
    const placed = (parameter: string) =>
      this.#places.flatMap(({ parameter: of, type }, index) =>
        of === parameter ? [{ place: `$${index + 1}`, type }] : [],
      )
    const text = sql
      .replaceAll(/(?<![:\w]):(\w+) AS (\w+)/g, (found, word: string, alias: string) => {
        const set = sets.get(word)
        if (set === undefined) return found
        const lists = placed(word).map(({ place, type }) => `${place}::${type.name}`)
        const columns = [...Object.keys(set.columns), ...(set.place === undefined ? [] : [set.place])]
        const numbered = set.place === undefined ? '' : 'WITH ORDINALITY '
        return `unnest(${lists.join(', ')}) ${numbered}AS ${alias} (${columns.join(', ')})`
      })
      .replaceAll(/(?<![:\w]):(\w+)/g, (found, word: string) => placed(word)[0]?.place ?? found)
    this.text = `/* ${name} */ ${text}`
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

  /** Like `run`, for a statement whose only parameter is a set of rows. Sends nothing if the set is empty. */
  async runRows(db: Queryable, rows: RowsOf<P[keyof P]>): Promise<number> {
    const parameter = this.#places[0]?.parameter ?? ''
    return rows.length === 0 ? 0 : ((await this.#send(db, [{ [parameter]: rows }])).rowCount ?? 0)
  }

  #send(db: Queryable, [given = {}]: [values?: Readonly<Record<string, unknown>>]) {
    const values = this.#places.map(({ parameter, column, type }) => {
      const value = given[parameter]
      if (column === null) return encoded(type, value)
      return encoded(
        type,
        (value as readonly Readonly<Record<string, unknown>>[]).map((row) => row[column]),
      )
    })
    return db.query({ ...(this.#planEachCall ? {} : { name: this.name }), text: this.text, values })
  }
}

/** All statements whose files are loaded, by name. */
export const statements = new Map<string, Statement<unknown, unknown>>()

/** Declares a statement: a short one in the file that uses it, others in a file `*.sql.ts` beside it. */
export function statement<P extends Parameters = Record<never, never>, R extends Columns = Record<never, never>>(
  declaration: Declaration<P, R>,
): Statement<P, R> {
  if (statements.has(declaration.name)) throw new Error(`There are two statements named ${declaration.name}`)
  const made = new Statement<P, R>(declaration)
  statements.set(declaration.name, made as unknown as Statement<unknown, unknown>)
  return made
}

/** SQL: the names of columns, as lists of columns have them. */
export const columnNames = (columns: Columns): string => Object.keys(columns).join(', ')

/** Declares a statement that inserts a set of rows: `runRows(tx, rows)`. `sql` follows, such as ON CONFLICT. */
export const insertion = <C extends Columns>({
  name,
  into,
  columns,
  sql = '',
}: {
  name: string
  into: string
  columns: C
  sql?: string
}): Statement<{ rows: RowSet<C> }, Record<never, never>> =>
  statement({
    name,
    parameters: { rows: rowSet(columns) },
    sql: `INSERT INTO ${into} (${columnNames(columns)}) SELECT * FROM :rows AS r ${sql}`,
  })
