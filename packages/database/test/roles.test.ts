import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Logger } from '@slipway/runtime'
import {
  connectTo,
  databaseAs,
  type OpenTestDatabase,
  openTestDatabase,
  repositoryRoot,
  TEST_ROLE_PREFIX,
  testLogger,
  waitFor,
} from '@slipway/testing'
import pg from 'pg'
import {
  applyGrants,
  DATABASE_ROLES,
  type Database,
  type DatabaseRole,
  openToPublic,
  unlistedRights,
  warnOfOwner,
} from '../src/index.ts'
import { SEALED_PLACES } from '../src/sealing/sealed-places.ts'

/** Rights of a service on tables of another service, each with the reason. */
const EXCEPTIONS: Record<string, string> = {
  'dispatcher UPDATE webhooks': 'it switches off a webhook whose receiver is gone for good, and counts timeouts',
  'dispatcher DELETE run_progress': 'retention',
  'dispatcher DELETE command_results': 'retention',
  'dispatcher DELETE log_chunks': 'retention',
  'gateway INSERT instance_grants': 'an administrator grants that an instance may join',
  'gateway DELETE instance_grants': 'an administrator revokes the grant',
  'gateway DELETE target_facts': 'a target that is changed or deleted has no facts any more',
  'gateway DELETE target_locks': 'a target that is deleted has no lock any more',
  ...Object.fromEntries(
    ['INSERT releases', 'UPDATE releases', 'INSERT release_heads', 'UPDATE release_heads', 'INSERT release_checks']
      .concat('UPDATE release_checks', 'UPDATE target_locks')
      .map((right) => [`executor-bridge ${right}`, 'they follow from steps, in the transaction that moves these']),
  ),
  'retention INSERT deployment_counts': 'retention: the counts of lists decrease',
  'retention DELETE deployments': 'retention',
  'retention INSERT dropped_deployments': 'retention',
  'retention DELETE dropped_deployments': 'retention',
  'retention DELETE pending_requests': 'retention',
  'retention DELETE leases': 'retention',
  'retention DELETE steps': 'retention',
  'retention DELETE run_progress': 'retention',
  'retention DELETE command_results': 'retention',
  'retention DELETE log_chunks': 'retention',
  'retention DELETE releases': 'retention',
  'retention DELETE release_heads': 'retention',
}

let server: OpenTestDatabase
let owner: Database
const tenant = randomUUID()
const running = randomUUID()

beforeAll(async () => {
  server = await openTestDatabase()
  owner = server.database
  await owner.query(`INSERT INTO tenants (id, name, slug) VALUES ($1, 'a', 'a')`, [tenant])
  await addDeployment(running, tenant)
  await addDeployment(randomUUID(), null)
  await owner.query(`INSERT INTO audit_records (id, action, resource_type, details) VALUES ($1, 'a', 'b', '{}')`, [
    randomUUID(),
  ])
  await owner.query(`INSERT INTO audit_links VALUES (1, (SELECT min(number) FROM audit_records), 'hash')`)
})
afterAll(() => server.drop())

const addDeployment = (id: string, tenantId: string | null) =>
  owner.query(
    `INSERT INTO deployments (id, tenant_id, state, source_type, source_id, source_name, source_version, plan_head, selection,
       total_steps) VALUES ($1, $2, 'running', 'action', $1, '', '1.0.0', '{}', '{}', 1)`,
    [id, tenantId],
  )

/** Runs the statements as this role and rolls them back. Returns the SQLSTATE of the error, or `done`. */
async function attemptAs(role: DatabaseRole, ...statements: string[]): Promise<string> {
  const client = await server.as(role).pool.connect()
  try {
    await client.query('BEGIN')
    for (const statement of statements) await client.query(statement)
    return 'done'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
}

const DENIED = '42501'

test('every table and function has an entry in the rights, and every entry has its table or function', async () => {
  const client = await connectTo(server.url)
  expect(await unlistedRights(client)).toEqual([])
  await client.end()
})

const FORBIDDEN = [
  'DROP POLICY "tenant" ON deployments',
  'CREATE POLICY mine ON deployments USING (true)',
  'ALTER TABLE deployments DISABLE ROW LEVEL SECURITY',
  'ALTER TABLE deployments NO FORCE ROW LEVEL SECURITY',
  'ALTER TABLE audit_records DISABLE TRIGGER ALL',
  'DROP TRIGGER audit_records_append_only ON audit_records',
  'DROP TABLE audit_links',
  'DROP TABLE log_chunks_default',
  'TRUNCATE audit_records',
  'TRUNCATE log_chunks',
  'CREATE TABLE mine ()',
  'CREATE TEMPORARY TABLE mine ()',
  'CREATE FUNCTION mine() RETURNS int LANGUAGE sql RETURN 1',
  'CREATE FUNCTION pg_temp.mine() RETURNS int LANGUAGE sql RETURN 1',
  'CREATE OR REPLACE FUNCTION audit_dropped() RETURNS bigint LANGUAGE sql RETURN 1',
  'SET session_replication_role = replica',
  'SELECT passwd FROM pg_shadow',
  `COPY (SELECT 1) TO PROGRAM 'true'`,
  'DELETE FROM _prisma_migrations',
  `UPDATE audit_records SET action = 'x'`,
  `UPDATE audit_records SET details = '{}' WHERE number = 1`,
  'DELETE FROM audit_records',
  `UPDATE audit_links SET hash = ''`,
  'DELETE FROM audit_links',
  'UPDATE deployments SET id = id',
  'UPDATE leases SET epoch = epoch',
  'UPDATE outbox SET id = id',
  'UPDATE targets SET id = id',
  'SELECT drop_log_partition(current_date, 1)',
  'SELECT drop_audit(1, 1)',
  'SELECT drop_audit(1, 0)',
]

describe.each(DATABASE_ROLES)('%s', (role) => {
  test('may not change tables, policies, triggers, functions, rights or audit records', async () => {
    const allowed: string[] = []
    for (const statement of FORBIDDEN) {
      const said = await attemptAs(role, statement)
      // A role that may call drop_audit gets the error that this is the last position of the chain.
      const refused = said === DENIED || (statement.startsWith('SELECT drop_audit') && said === '22023')
      if (!refused) allowed.push(`${statement}: ${said}`)
    }
    expect(allowed).toEqual([])
  })

  test('may not become another role or extend its own rights', async () => {
    const { rows } = await owner.query<{ owner: string; own: string }>(
      'SELECT current_user AS owner, $1::text AS own',
      [new URL(server.urlOf(role)).username],
    )
    for (const statement of [
      `SET ROLE ${rows[0]?.owner}`,
      `SET SESSION AUTHORIZATION ${rows[0]?.owner}`,
      `ALTER ROLE ${rows[0]?.own} BYPASSRLS`,
      `ALTER ROLE ${rows[0]?.own} SUPERUSER`,
      'CREATE ROLE mine',
    ]) {
      expect([statement, await attemptAs(role, statement)]).toEqual([statement, DENIED])
    }
  })

  test('writes no table of another service', async () => {
    const foreign: string[] = []
    for (const [table, owning] of Object.entries(ownersBySchema())) {
      // rotate-keys writes the sealed columns of every table. A separate test checks it.
      if (owning === role || role === 'rotate-keys') continue
      for (const right of await writingRights(role, table)) {
        if (EXCEPTIONS[`${role} ${right} ${table}`] === undefined) foreign.push(`${role} ${right} ${table}`)
      }
    }
    expect(foreign).toEqual([])
  })

  test('sees the rows of the tenant that its connection names, or none', async () => {
    if ((await attemptAs(role, 'SELECT id FROM deployments')) === DENIED) return
    const count = async (setting: string) => {
      const client = await connectTo(server.urlOf(role), setting)
      const { rowCount } = await client.query('SELECT id FROM deployments')
      await client.end()
      return rowCount
    }
    expect([await count('*'), await count(tenant), await count(randomUUID()), await count('')]).toEqual([2, 1, 0, 0])
  })
})

/** The owner of each table, from the sections of prisma/schema.prisma. */
function ownersBySchema(): Record<string, string> {
  const schema = fs.readFileSync(path.join(repositoryRoot, 'prisma/schema.prisma'), 'utf8')
  const owners: Record<string, string> = {}
  let owning: string | undefined
  for (const line of schema.split('\n')) {
    if (line.startsWith('// ──')) owning = /\(owner: ([a-z-]+)\)/.exec(line)?.[1]
    const table = /^ {2}@@map\("(\w+)"\)/.exec(line)?.[1]
    // Enums have an @@map too, but are no tables.
    if (table !== undefined && owning !== undefined && !/_(state|status|kind|concurrency)$/.test(table))
      owners[table] = owning
  }
  return owners
}

/** The rights among INSERT, UPDATE and DELETE. UPDATE of the column `lockable` does not count: it is for row locks. */
async function writingRights(role: DatabaseRole, table: string): Promise<string[]> {
  const { rows } = await databaseAs(owner, role).query<{ writes: string[] }>(
    `SELECT array_remove(ARRAY[
       CASE WHEN has_any_column_privilege($1, 'INSERT') THEN 'INSERT' END,
       CASE WHEN EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped
                           AND has_column_privilege(a.attrelid, a.attnum, 'UPDATE')
                           AND NOT (a.attname = 'lockable' AND a.attgenerated = 's')) THEN 'UPDATE' END,
       CASE WHEN has_table_privilege($1, 'DELETE') THEN 'DELETE' END], NULL) AS writes`,
    [table],
  )
  return rows[0]?.writes ?? []
}

test('the schema names the owner of more than 30 tables', () => {
  expect(Object.keys(ownersBySchema()).length).toBeGreaterThan(30)
})

test('every exception is still needed', async () => {
  for (const exception of Object.keys(EXCEPTIONS)) {
    const [role, right, table] = exception.split(' ')
    expect([exception, await writingRights(role as DatabaseRole, table ?? '')]).toEqual([
      exception,
      expect.arrayContaining([right]),
    ])
  }
})

test('rotate-keys writes the columns with secrets and no other column', async () => {
  const { rows } = await server.as('rotate-keys').query<{ place: string }>(
    `SELECT c.relname || '.' || a.attname AS place FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT a.attisdropped
        AND (has_column_privilege(c.oid, a.attnum, 'UPDATE') OR has_column_privilege(c.oid, a.attnum, 'INSERT')
             OR has_table_privilege(c.oid, 'DELETE')) ORDER BY 1`,
  )
  expect(rows.map(({ place }) => place)).toEqual(SEALED_PLACES.map(({ table, column }) => `${table}.${column}`).sort())
})

test('only the services that use a secret can read it', async () => {
  const readers = async (table: string, column: string) => {
    const found: DatabaseRole[] = []
    for (const role of DATABASE_ROLES) {
      if ((await attemptAs(role, `SELECT ${column} FROM ${table}`)) !== DENIED) found.push(role)
    }
    return found
  }
  expect({
    passwords: await readers('users', 'password_hash'),
    totp: await readers('users', 'totp_sealed'),
    keys: await readers('api_keys', 'key_hash'),
    refresh: await readers('refresh_tokens', 'token_hash'),
    connections: await readers('targets', 'connection_secrets'),
    definitions: await readers('source_versions', 'secrets'),
    webhooks: await readers('webhooks', 'secret_sealed'),
    instances: await readers('instances', 'credential_hash'),
    agents: await readers('agents', 'key_sealed'),
  }).toEqual({
    passwords: ['gateway'],
    totp: ['gateway', 'rotate-keys'],
    keys: ['gateway'],
    refresh: ['gateway'],
    connections: ['gateway', 'executor-bridge', 'rotate-keys'],
    definitions: ['gateway', 'planner', 'executor-bridge', 'rotate-keys'],
    webhooks: ['gateway', 'dispatcher', 'rotate-keys'],
    instances: ['executor-bridge'],
    agents: ['executor-bridge', 'rotate-keys'],
  })
})

test('a service that only locks rows can lock them', async () => {
  expect(await attemptAs('executor-bridge', 'SELECT FROM deployments FOR SHARE')).toBe('done')
  expect(await attemptAs('executor-bridge', 'SELECT FROM leases FOR SHARE')).toBe('done')
  expect(await attemptAs('dispatcher', 'SELECT FROM instance_slots FOR UPDATE')).toBe('done')
  expect(await attemptAs('planner', 'SELECT FROM deployments FOR SHARE')).toBe(DENIED)
  // generated_always: the column that gives this right cannot be changed.
  expect(await attemptAs('executor-bridge', 'UPDATE leases SET lockable = false')).toBe('428C9')
})

describe('functions with the rights of the owner', () => {
  test('have a fixed search_path', async () => {
    const { rows } = await owner.query(
      `SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef
         AND NOT coalesce(proconfig, '{}') @> ARRAY['search_path=public, pg_temp']`,
    )
    expect(rows).toEqual([])
  })

  test('ignore tables that the caller created', async () => {
    await temporaryTables('GRANT', 'TO')
    const yesterday = `(now() AT TIME ZONE 'UTC')::date - 3`
    await owner.query(`SELECT ensure_log_partition(${yesterday})`)
    await owner.query(`UPDATE deployments SET created_at = now() - interval '5 days' WHERE id = $1`, [running])
    const own = [
      'CREATE TEMP TABLE deployments (created_at timestamptz, completed_at timestamptz)',
      'CREATE TEMP TABLE audit_links (position bigint, record_number bigint, hash text)',
      'SET LOCAL search_path = pg_temp, public',
    ]
    expect(await attemptAs('retention', ...own, `SELECT public.drop_log_partition(${yesterday}, 1)`)).toBe(DENIED)
    await owner.query(`UPDATE deployments SET state = 'success', completed_at = now() WHERE id = $1`, [running])
    expect(await attemptAs('retention', ...own, `SELECT public.drop_log_partition(${yesterday}, 1)`)).toBe('done')
    expect(await attemptAs('retention', `SELECT drop_log_partition(${yesterday}, 0)`)).toBe(DENIED)
    expect(await attemptAs('retention', `SELECT drop_log_partition(${yesterday}, NULL)`)).toBe(DENIED)
    await owner.query(
      `UPDATE deployments SET state = 'running', completed_at = NULL, created_at = now() WHERE id = $1`,
      [running],
    )
    await temporaryTables('REVOKE', 'FROM')
  })

  test('cannot be attached to a table by a service, even if it may create one', async () => {
    await temporaryTables('GRANT', 'TO')
    const { rows } = await owner.query<{ signature: string }>(
      `SELECT oid::regprocedure AS signature FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace AND prorettype = 'trigger'::regtype`,
    )
    const attached: string[] = []
    for (const { signature } of rows) {
      const trigger = `CREATE TRIGGER mine AFTER DELETE ON mine FOR EACH ROW EXECUTE FUNCTION ${signature}`
      const said = await attemptAs('retention', 'CREATE TEMPORARY TABLE mine ()', trigger)
      if (said !== DENIED) attached.push(`${signature}: ${said}`)
    }
    await temporaryTables('REVOKE', 'FROM')
    expect(rows.length).toBeGreaterThan(0)
    expect(attached).toEqual([])
  })
})

/** Gives or takes the right of the role `retention` to create temporary tables. */
const temporaryTables = (verb: 'GRANT' | 'REVOKE', word: 'TO' | 'FROM') => {
  const [database, user] = [new URL(server.url).pathname.slice(1), new URL(server.urlOf('retention')).username]
  return owner.query(
    `${verb} TEMPORARY ON DATABASE ${pg.escapeIdentifier(database)} ${word} ${pg.escapeIdentifier(user)}`,
  )
}

describe('every role', () => {
  test('may call no function of the schema and create nothing, by the catalogue of Postgres', async () => {
    const { rows } = await owner.query(
      `SELECT p.oid::regprocedure::text AS open FROM pg_proc p
        WHERE p.pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
          AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
          AND has_function_privilege('public', p.oid, 'EXECUTE')
       UNION ALL
       SELECT datname FROM pg_database
        WHERE datname = current_database() AND has_database_privilege('public', oid, 'CREATE, TEMPORARY')
       UNION ALL
       SELECT nspname FROM pg_namespace WHERE has_schema_privilege('public', oid, 'CREATE')
       UNION ALL
       SELECT oid::regclass::text FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')
          AND has_any_column_privilege('public', oid, 'SELECT, INSERT, UPDATE, REFERENCES')`,
    )
    expect(rows).toEqual([])
  })

  test('may not call a function that a later migration creates', async () => {
    const client = await connectTo(server.url)
    await client.query('BEGIN')
    await client.query('CREATE FUNCTION later() RETURNS int LANGUAGE sql RETURN 1')
    const { rows } = await client.query(`SELECT has_function_privilege('public', 'later()', 'EXECUTE') AS may`)
    await client.query('ROLLBACK')
    await client.end()
    expect(rows).toEqual([{ may: false }])
  })

  test('may create no temporary table in a database whose owner gives the rights; the others are named', async () => {
    const client = await owner.pool.connect()
    await client.query(
      `GRANT TEMPORARY ON DATABASE ${pg.escapeIdentifier(new URL(server.url).pathname.slice(1))} TO PUBLIC`,
    )
    expect(await openToPublic(client)).toEqual([expect.stringContaining('REVOKE TEMPORARY ON DATABASE')])
    await applyGrants(client, TEST_ROLE_PREFIX)
    expect(await openToPublic(client)).toEqual([])
    client.release()
  })
})

test('applying the rights again changes nothing and removes other rights', async () => {
  const client = await owner.pool.connect()
  const rights = async () =>
    (
      await client.query(
        `SELECT c.relname, '' AS attname, g.grantee, g.privilege_type FROM pg_class c, aclexplode(c.relacl) g
          WHERE c.relnamespace = 'public'::regnamespace AND g.grantee <> c.relowner
         UNION ALL
         SELECT c.relname, a.attname, g.grantee, g.privilege_type
           FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid, aclexplode(a.attacl) g
          WHERE c.relnamespace = 'public'::regnamespace
         UNION ALL
         SELECT p.proname, '', g.grantee, g.privilege_type FROM pg_proc p, aclexplode(p.proacl) g
          WHERE p.pronamespace = 'public'::regnamespace AND g.grantee <> p.proowner
         ORDER BY 1, 2, 3, 4`,
      )
    ).rows
  const before = await rights()
  const planner = pg.escapeIdentifier(new URL(server.urlOf('planner')).username)
  await client.query(`GRANT UPDATE (state), DELETE ON deployments TO ${planner}`)
  await client.query(`GRANT EXECUTE ON FUNCTION drop_audit TO ${planner}`)
  expect(await attemptAs('planner', `UPDATE deployments SET state = state`)).toBe('done')
  expect(await applyGrants(client, TEST_ROLE_PREFIX)).toHaveLength(DATABASE_ROLES.length)
  expect(await attemptAs('planner', `UPDATE deployments SET state = state`)).toBe(DENIED)
  expect(await attemptAs('planner', `SELECT drop_audit(1, 1)`)).toBe(DENIED)
  expect(await rights()).toEqual(before)
  expect(await applyGrants(client, 'slipway_nobody_')).toEqual([])
  client.release()
})

describe('the warning that the user of a process owns the tables', () => {
  async function warningsOf(database: Database, isAwayAtFirst: boolean): Promise<string[]> {
    const said: string[] = []
    const logger: Logger = { ...testLogger, warn: (message: string) => void said.push(message) }
    let isAway = isAwayAtFirst
    let isAnswered = false
    warnOfOwner(
      {
        pool: database.pool,
        query: async (text, values) => {
          if (isAway) {
            isAway = false
            throw new Error('away')
          }
          const answer = await database.query(text, values)
          isAnswered = true
          return answer as never
        },
      },
      logger,
    )
    await waitFor(() => isAnswered, { what: 'the question to be answered' })
    await new Promise(setImmediate)
    return said
  }

  test('is logged for the owner, also after Postgres was away', async () => {
    expect(await warningsOf(owner, true)).toEqual([expect.stringContaining('owns the tables')])
  })
  test('is not logged for the role of any service', async () => {
    expect(await Promise.all(DATABASE_ROLES.map((role) => warningsOf(server.as(role), false)))).toEqual(
      DATABASE_ROLES.map(() => []),
    )
  })
})
