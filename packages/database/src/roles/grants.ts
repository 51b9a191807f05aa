import { DEFAULT_USER_PREFIX, serviceUser } from '@slipway/runtime'
import pg from 'pg'
import { LOCK_KEYS } from '../lock-keys.ts'
import { type Columns, DATABASE_ROLES, type DatabaseRole, FUNCTION_RIGHTS, TABLE_RIGHTS } from './rights.ts'

/** The objects of the schema that rights apply to. */
interface Schema {
  /** Columns by table. */
  tables: Map<string, string[]>
  /** Columns of the primary key by table. */
  keys: Map<string, string[]>
  /** Sequences that fill a column, by table. */
  sequences: Map<string, string[]>
  /** Signatures by name, without functions of triggers and extensions. */
  functions: Map<string, string[]>
  /** Signatures of the functions of triggers. A trigger runs them without a right, and only who attaches one needs it. */
  triggerFunctions: string[]
}

/** What the server lets every role do in this database. */
interface DatabaseRights {
  database: string
  /** Whether every role may create temporary tables. */
  temporary: boolean
  /** Whether the caller may change that. */
  owns: boolean
}

const name = pg.escapeIdentifier

/**
 * Grants each role the rights of `rights.ts` and revokes all others in this schema, in one transaction. The caller connects as
 * the owner of the tables. Skips roles that do not exist, and returns the others. In the database, no role may create temporary tables,
 * and no role may call functions that this owner creates later.
 */
export async function applyGrants(client: pg.ClientBase, prefix = DEFAULT_USER_PREFIX): Promise<string[]> {
  await client.query('BEGIN')
  try {
    await client.query(`SELECT pg_advisory_xact_lock(${LOCK_KEYS.grants})`)
    const schema = await readSchema(client)
    const roles = await existingRoles(client, prefix)
    for (const statement of [
      ...ofPublic(schema),
      ...ofDatabase(await databaseRights(client)),
      ...roles.flatMap((role) => ofRole(role, schema, prefix)),
    ]) {
      await client.query(statement)
    }
    await client.query('COMMIT')
    return roles.map((role) => serviceUser(role, prefix))
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  }
}

/** What every role may still do, and how to end that: one sentence, if the caller of `applyGrants` does not own the database. */
export async function openToPublic(client: Pick<pg.ClientBase, 'query'>): Promise<string[]> {
  const { database, temporary } = await databaseRights(client)
  const statement = `REVOKE TEMPORARY ON DATABASE ${name(database)} FROM PUBLIC`
  return temporary ? [`every role may create temporary tables: run as the owner of the database \`${statement}\``] : []
}

/** One sentence for each table or function without an entry in `rights.ts`, and for each entry without a table or function. */
export async function unlistedRights(client: Pick<pg.ClientBase, 'query'>): Promise<string[]> {
  const { tables, functions } = await readSchema(client)
  const file = 'packages/database/src/roles/rights.ts'
  const missing = (kind: string, found: Iterable<string>, listed: object) =>
    [...found]
      .filter((one) => !Object.hasOwn(listed, one))
      .map((one) => `${kind} "${one}" has no rights: say in ${file} which services use it, and how`)
  const gone = (kind: string, found: ReadonlyMap<string, unknown>, listed: object) =>
    Object.keys(listed)
      .filter((one) => !found.has(one))
      .map((one) => `${kind} "${one}" does not exist: remove its rights from ${file}`)
  return [
    ...missing('table', tables.keys(), TABLE_RIGHTS),
    ...missing('function', functions.keys(), FUNCTION_RIGHTS),
    ...gone('table', tables, TABLE_RIGHTS),
    ...gone('function', functions, FUNCTION_RIGHTS),
  ]
}

/** @throws Error for a role that the rights of this file cannot limit */
async function existingRoles(client: pg.ClientBase, prefix: string): Promise<DatabaseRole[]> {
  const { rows } = await client.query<{ rolname: string; passes: boolean }>(
    `SELECT rolname, rolsuper OR rolbypassrls OR rolcreaterole OR pg_has_role(oid, current_user, 'MEMBER') AS passes
       FROM pg_roles WHERE rolname = ANY($1)`,
    [DATABASE_ROLES.map((role) => serviceUser(role, prefix))],
  )
  for (const { rolname, passes } of rows) {
    if (passes) {
      throw new Error(
        `The role ${rolname} is a superuser, has BYPASSRLS or CREATEROLE, or is a member of the owner of the tables: ` +
          'rights cannot hold it. Take that from the role, then migrate again',
      )
    }
  }
  const found = new Set(rows.map(({ rolname }) => rolname))
  return DATABASE_ROLES.filter((role) => found.has(serviceUser(role, prefix)))
}

/** Postgres lets every role call new functions and, before version 15, create objects in this schema. */
function ofPublic(schema: Schema): string[] {
  return [
    'REVOKE CREATE ON SCHEMA public FROM PUBLIC',
    'ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC',
    ...signaturesOf(schema).map((signature) => `REVOKE ALL ON FUNCTION ${signature} FROM PUBLIC`),
  ]
}

/**
 * With a temporary table of its own, a role could attach a function of a trigger to it, and run that with the rights of the owner
 * on rows that it makes up.
 */
const ofDatabase = ({ database, temporary, owns }: DatabaseRights) =>
  temporary && owns ? [`REVOKE TEMPORARY ON DATABASE ${name(database)} FROM PUBLIC`] : []

const signaturesOf = ({ functions, triggerFunctions }: Schema) => [
  ...[...functions.values()].flat(),
  ...triggerFunctions,
]

function ofRole(role: DatabaseRole, schema: Schema, prefix: string): string[] {
  const { tables, keys, sequences, functions } = schema
  const grantee = name(serviceUser(role, prefix))
  const statements = [
    `REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${grantee}`,
    `REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM ${grantee}`,
    ...signaturesOf(schema).map((signature) => `REVOKE ALL ON FUNCTION ${signature} FROM ${grantee}`),
    `REVOKE ALL ON SCHEMA public FROM ${grantee}`,
    `GRANT USAGE ON SCHEMA public TO ${grantee}`,
  ]
  for (const [table, columns] of tables) {
    const rights = TABLE_RIGHTS[table]?.[role]
    if (rights === undefined) continue
    const { select, insert, update, delete: remove, lock } = rights
    const updated =
      update === undefined
        ? []
        : update === 'all'
          ? without(columns, keys.get(table) ?? [])
          : columnsOf(update, columns)
    const granted = [
      ...(select === undefined ? [] : [`SELECT${listOf(select, columns)}`]),
      ...(insert === undefined ? [] : [insert === true ? 'INSERT' : `INSERT${listOf(insert, columns)}`]),
      ...(updated.length === 0 ? [] : [`UPDATE (${updated.map(name).join(', ')})`]),
      ...(lock === true ? ['UPDATE (lockable)'] : []),
      ...(remove === true ? ['DELETE'] : []),
    ]
    statements.push(`GRANT ${granted.join(', ')} ON ${name(table)} TO ${grantee}`)
    if (insert === undefined) continue
    for (const sequence of sequences.get(table) ?? [])
      statements.push(`GRANT USAGE ON SEQUENCE ${sequence} TO ${grantee}`)
  }
  for (const [called, callers] of Object.entries(FUNCTION_RIGHTS)) {
    if (!callers.includes(role)) continue
    for (const signature of functions.get(called) ?? [])
      statements.push(`GRANT EXECUTE ON FUNCTION ${signature} TO ${grantee}`)
  }
  return statements
}

/** The columns of a right in SQL; empty for all columns. */
function listOf(columns: Columns, all: readonly string[]): string {
  return columns === 'all' ? '' : ` (${columnsOf(columns, all).map(name).join(', ')})`
}

function columnsOf(columns: Columns, all: readonly string[]): readonly string[] {
  if (columns === 'all') return all
  return 'except' in columns ? without(all, columns.except) : columns
}

const without = (all: readonly string[], excepted: readonly string[]) => all.filter((one) => !excepted.includes(one))

async function readSchema(client: Pick<pg.ClientBase, 'query'>): Promise<Schema> {
  const tables = await client.query<{ table: string; columns: string[] }>(
    // Rights on partitions come from their table. Only log_chunks_default is also read by its own name.
    `SELECT c.relname AS table, array_agg(a.attname::text ORDER BY a.attnum) AS columns
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        AND (NOT c.relispartition OR c.relname = 'log_chunks_default')
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
      GROUP BY 1 ORDER BY 1`,
  )
  const keys = await client.query<{ table: string; columns: string[] }>(
    `SELECT c.relname AS table, array_agg(a.attname::text ORDER BY a.attnum) AS columns
       FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
      WHERE i.indisprimary AND c.relnamespace = 'public'::regnamespace
      GROUP BY 1`,
  )
  const sequences = await client.query<{ table: string; sequences: string[] }>(
    `SELECT t.relname AS table, array_agg(s.oid::regclass::text ORDER BY 1) AS sequences
       FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S' JOIN pg_class t ON t.oid = d.refobjid
      WHERE d.deptype IN ('a', 'i') AND t.relnamespace = 'public'::regnamespace
      GROUP BY 1`,
  )
  const functions = await client.query<{ name: string; triggers: boolean; signatures: string[] }>(
    `SELECT p.proname AS name, p.prorettype = 'trigger'::regtype AS triggers,
            array_agg(p.oid::regprocedure::text ORDER BY 1) AS signatures
       FROM pg_proc p
      WHERE p.pronamespace = 'public'::regnamespace
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
      GROUP BY 1, 2 ORDER BY 1`,
  )
  return {
    tables: new Map(tables.rows.map(({ table, columns }) => [table, columns])),
    keys: new Map(keys.rows.map(({ table, columns }) => [table, columns])),
    sequences: new Map(sequences.rows.map(({ table, sequences }) => [table, sequences])),
    functions: new Map(
      functions.rows.filter(({ triggers }) => !triggers).map(({ name, signatures }) => [name, signatures]),
    ),
    triggerFunctions: functions.rows.filter(({ triggers }) => triggers).flatMap(({ signatures }) => signatures),
  }
}

async function databaseRights(client: Pick<pg.ClientBase, 'query'>): Promise<DatabaseRights> {
  const { rows } = await client.query<DatabaseRights>(
    `SELECT datname AS database, has_database_privilege('public', oid, 'TEMPORARY') AS temporary,
            pg_has_role(datdba, 'USAGE') AS owns
       FROM pg_database WHERE datname = current_database()`,
  )
  if (rows[0] === undefined) throw new Error('Postgres does not list the current database')
  return rows[0]
}
