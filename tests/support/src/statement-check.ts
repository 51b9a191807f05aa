import fs from 'node:fs'
import path from 'node:path'
import { type SqlType, type Statement, statements } from '@slipway/database'
import type pg from 'pg'
import { repositoryFiles, repositoryRoot } from './repository.ts'

/** Imports each file of the packages and services that declares a statement or a kind of record, and returns all statements by name. */
export async function loadStatements(): Promise<typeof statements> {
  const files = repositoryFiles('packages/*/src/*.ts', 'services/*/src/*.ts')
    .map((file) => path.join(repositoryRoot, file))
    .filter((file) => /\b(statement|insertion|recordKind)\(\{/.test(fs.readFileSync(file, 'utf8')))
  for (const file of files) await import(file)
  return statements
}

interface Column {
  name: string
  type: number
  /** 0 for an expression. */
  table: number
  attribute: number
}

/** Asks Postgres for the parameters and columns of a statement, without running it. */
class Description implements pg.Submittable {
  parameters: number[] = []
  columns: Column[] = []
  readonly #text: string
  readonly #done: (error: Error | null) => void

  constructor(text: string, done: (error: Error | null) => void) {
    this.#text = text
    this.#done = done
  }

  submit(connection: pg.Connection): void {
    connection.once('parameterDescription', ({ dataTypeIDs }: { dataTypeIDs: number[] }) => {
      this.parameters = dataTypeIDs
    })
    connection.parse({ name: '', text: this.#text, types: [] }, true)
    connection.describe({ type: 'S', name: '' }, true)
    connection.sync()
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    this.columns = fields.map(({ name, dataTypeID: type, tableID: table, columnID: attribute }) => ({
      name,
      type,
      table,
      attribute,
    }))
  }

  handleError(error: Error): void {
    this.#done(error)
  }

  handleReadyForQuery(): void {
    this.#done(null)
  }
}

async function describe(client: pg.Client, text: string): Promise<Description> {
  return new Promise((resolve, reject) => {
    const description = new Description(text, (error) => (error === null ? resolve(description) : reject(error)))
    client.query(description)
  })
}

interface Plan {
  'Node Type': string
  'Join Type'?: string
  'Parent Relationship'?: string
  'Relation Name'?: string
  Plans?: Plan[]
}

/** For each table of a plan, whether an outer join may return null for its columns: true, false or both. */
function sidesOf(plan: Plan, filled = false, sides = new Map<string, Set<boolean>>()): Map<string, Set<boolean>> {
  const table = plan['Relation Name']
  if (table !== undefined) sides.set(table, (sides.get(table) ?? new Set()).add(filled))
  for (const child of plan.Plans ?? []) {
    const side = child['Parent Relationship'] === 'Outer' ? ['Right', 'Full'] : ['Left', 'Full']
    const isSide = child['Parent Relationship'] === 'Outer' || child['Parent Relationship'] === 'Inner'
    sidesOf(child, filled || (isSide && side.includes(plan['Join Type'] ?? '')), sides)
  }
  return sides
}

/** The differences between the declared types of a statement and the schema of the connection, one sentence for each. */
export async function statementProblems(client: pg.Client, statement: Statement<unknown, unknown>): Promise<string[]> {
  const { name, text, parameters, row } = statement
  const described = await describe(client, text).catch((error: Error) => error)
  if (described instanceof Error) return [`${name}: ${described.message}`]
  const problems: string[] = []
  const compareType = async (what: string, type: SqlType<unknown>, found: number) => {
    const { rows } = await client.query(
      `SELECT $1::oid::regtype::text AS found, to_regtype($2)::oid IS NOT DISTINCT FROM $1 AS same,
              (SELECT array_agg(enumlabel::text ORDER BY enumlabel) FROM pg_enum WHERE enumtypid = $1) AS labels`,
      [found, type.name],
    )
    const [{ found: is, same, labels }] = rows as [{ found: string; same: boolean; labels: string[] | null }]
    if (!same) problems.push(`${what} is of type ${is}, declared ${type.name}`)
    else if (labels !== null && `${labels}` !== `${type.labels?.toSorted()}`)
      problems.push(`${what} is one of ${labels}, declared ${type.labels ?? 'without values'}`)
  }
  for (const [index, [parameter, type]] of Object.entries(parameters).entries())
    await compareType(`${name}: the parameter ${parameter}`, type, described.parameters[index] ?? 0)

  const declared = Object.keys(row)
  const found = described.columns.map((column) => column.name)
  for (const column of found.filter((column) => !declared.includes(column)))
    problems.push(`${name}: the column ${column} is not declared`)
  for (const column of declared.filter((column) => !found.includes(column)))
    problems.push(`${name}: there is no column ${column}`)

  const sides = /\bJOIN\b/.test(text) ? sidesOf(await planOf(client, statement)) : new Map<string, Set<boolean>>()
  for (const column of described.columns) {
    const type = row[column.name]
    if (type === undefined) continue
    const what = `${name}: the column ${column.name}`
    await compareType(what, type, column.type)
    if (column.table === 0) continue
    const { rows } = await client.query(
      `SELECT attnotnull AS filled, attrelid::regclass::text AS table FROM pg_attribute WHERE attrelid = $1 AND attnum = $2`,
      [column.table, column.attribute],
    )
    const side = sides.get(rows[0].table) ?? new Set([false])
    // The table is on both sides of an outer join, and the description does not say to which side the column belongs.
    if (side.size === 2) continue
    const mayBeNull = !rows[0].filled || side.has(true)
    if (mayBeNull && type.nulls === 'none') problems.push(`${what} may be null`)
    if (!mayBeNull && type.nulls !== 'none') problems.push(`${what} is never null, declared ${type.nulls}`)
  }
  return problems
}

/** The generic plan of a statement. */
async function planOf(client: pg.Client, { text, parameters }: Statement<unknown, unknown>): Promise<Plan> {
  const values = Object.keys(parameters).map(() => 'NULL')
  await client.query('SET plan_cache_mode = force_generic_plan')
  await client.query(`PREPARE checked AS ${text}`)
  try {
    const given = values.length === 0 ? '' : `(${values.join(', ')})`
    const { rows } = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE checked${given}`)
    return rows[0]['QUERY PLAN'][0].Plan
  } finally {
    await client.query('DEALLOCATE checked')
  }
}
