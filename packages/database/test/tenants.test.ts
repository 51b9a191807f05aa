import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { addPending, connectTo, createTestDatabase, type TestDatabase } from '@slipway/testing'
import { createDatabase, type Database, forAllTenants, forTenant } from '../src/index.ts'

/** Tables without row-level security, each with the reason. Every other table must have it. */
const OPEN: Record<string, string> = {
  _prisma_migrations: 'which migrations ran',
  roles: 'roles belong to the installation: everybody reads them',
  audit_links: 'hashes alone',
  dropped_deployments: 'ids of what is gone',
  instances: 'instances serve all tenants: everybody may see them',
  instance_slots: 'as instances',
  leases: 'ids, states and times; how busy an instance is counts those of all tenants',
  queue_settings: 'how the queue of the installation is run',
  outbox: 'relayed to the broker by any service, never read for a caller',
}

let made: TestDatabase
let ofCallers: Database
let all: Database
const A = randomUUID()
const B = randomUUID()

beforeAll(async () => {
  made = await createTestDatabase()
  ofCallers = createDatabase({ url: made.urlOf('gateway'), applicationName: 'test', max: 2 })
  all = createDatabase({ url: made.url, applicationName: 'test', tenant: '*' })
  for (const [id, name] of [
    [A, 'a'],
    [B, 'b'],
  ]) {
    await all.query('INSERT INTO tenants (id, name, slug) VALUES ($1, $2, $2)', [id, name])
  }
  for (const tenant of [A, B, null]) await fill(tenant)
})
afterAll(async () => {
  await ofCallers.close()
  await all.close()
  await made.drop()
})

/** Inserts one row into each table with rows of tenants. */
async function fill(tenant: string | null): Promise<void> {
  const id = randomUUID()
  const sql = [
    `INSERT INTO users (id, tenant_id, email, username, password_hash) VALUES ($1, $2, $1::uuid::text, $1::uuid::text, '')`,
    `INSERT INTO user_roles SELECT $1, id FROM roles`,
    `INSERT INTO sessions (id, user_id, token_version, expires_at) VALUES ($1, $1, 1, now())`,
    `INSERT INTO refresh_tokens (token_hash, family_id, user_id, expires_at) VALUES ($1::uuid::text, $1, $1, now())`,
    `INSERT INTO recovery_codes (user_id, code_hash) VALUES ($1, '')`,
    `INSERT INTO wrong_codes (user_id, failed_at, locks) VALUES ($1, '{}', 0)`,
    `INSERT INTO role_bindings (id, user_id, role_id) SELECT $1, $1, id FROM roles LIMIT 1`,
    `INSERT INTO identities (user_id, provider, issuer, subject) VALUES ($1, '', '', $1::uuid::text)`,
    `INSERT INTO trusts (id, user_id, name, issuer, audience, claims) VALUES ($1, $1, '', '', '', '{}')`,
    `INSERT INTO exchanged_tokens (token_hash, expires_at) VALUES ($1::uuid::text, now())`,
    `INSERT INTO api_keys (id, user_id, name, key_prefix, key_hash) VALUES ($1, $1, '', '', $1::uuid::text)`,
    `INSERT INTO audit_records (id, action, resource_type, tenant_id, details) VALUES ($1, '', '', $2, '{}')`,
    `INSERT INTO environments (id, tenant_id, name) VALUES ($1, $2, $1::uuid::text)`,
    `INSERT INTO targets (id, tenant_id, name, connection) VALUES ($1, $2, $1::uuid::text, '{}')`,
    `INSERT INTO target_tags VALUES ($1, 'k', 'v')`,
    `INSERT INTO target_facts (target_id) VALUES ($1)`,
    `INSERT INTO agent_grants (id, target_id, token_hash, expires_at) VALUES ($1, $1, '', now())`,
    `INSERT INTO agents (id, target_id, grant_id, host, port, version, key_sealed, credential_hash)
       VALUES ($1, $1, $1, '', 1, '', '', '')`,
    `INSERT INTO sources (id, tenant_id, kind, name) VALUES ($1, $2, 'action', $1::uuid::text)`,
    `INSERT INTO source_versions (source_id, version, definition) VALUES ($1, '1.0.0', '{}')`,
    `INSERT INTO sensitive_names (source_id, name) VALUES ($1, 'token')`,
    `INSERT INTO freezes (id, tenant_id, name, start_time, end_time) VALUES ($1, $2, '', now(), now() + interval '1 h')`,
    `INSERT INTO deployments (id, tenant_id, state, source_type, source_id, source_name, source_version, plan_head, selection,
       total_steps) VALUES ($1, $2, 'running', 'action', $1, '', '1.0.0', '{}', '{}', 1)`,
    `INSERT INTO deployment_counts (tenant_id, environment_id, source_type, state, count)
       VALUES ($2, $1, 'action', 'running', 1)`,
    `INSERT INTO deployment_names (tenant_id, source_name) VALUES ($2, $1::uuid::text)`,
    `INSERT INTO deployment_actions VALUES ($1, 0, $1, '', '', 0, $1, '', '', 0, 1, 0, false, '{}')`,
    `INSERT INTO deployment_targets VALUES ($1, 0, $1, '', '{}')`,
    `INSERT INTO releases (deployment_id, target_id, tenant_id, source_type, source_id, source_name, source_version, state, begun_at)
       VALUES ($1, $1, $2, 'action', $1, '', '1.0.0', 'running', now())`,
    `INSERT INTO release_heads (target_id, source_id) VALUES ($1, $1)`,
    `INSERT INTO release_checks (target_id, source_id) VALUES ($1, $1)`,
    `INSERT INTO deployment_transitions (deployment_id, number, to_state, message) VALUES ($1, 0, 'running', '')`,
    `INSERT INTO steps (deployment_id, target_index, action_index) VALUES ($1, 0, 0)`,
    `INSERT INTO run_progress (deployment_id, epoch, tenant_id) VALUES ($1, 1, $2)`,
    `INSERT INTO command_results VALUES ($1, 0, 0, 'completed', 0, '', '', NULL, NULL, now(), now())`,
    `INSERT INTO log_chunks (deployment_id, first_line, line_count, lines) VALUES ($1, 0, 1, '[]')`,
    `INSERT INTO target_locks (target_id, deployment_id, epoch) VALUES ($1, $1, 1)`,
    `INSERT INTO pending_targets (request_id, target_id, rank) VALUES ($1, $1, 0)`,
    `INSERT INTO approvals (request_id, user_id, user_name) VALUES ($1, $1, '')`,
    `INSERT INTO idempotency_keys (user_id, scope, key, command_id, body_hash) VALUES ($1, '', '', $1, '')`,
    `INSERT INTO content_uploads (id) VALUES ($1)`,
    `INSERT INTO content_chunks VALUES ($1, 0, '')`,
    `INSERT INTO contents (id, size, upload_id) VALUES ($1::uuid::text, 0, $1)`,
    `INSERT INTO content_tenants (content_id, tenant_id, size) VALUES ($1::uuid::text, $2, 0)`,
    `INSERT INTO content_uploaders VALUES ($1::uuid::text, $1)`,
    `INSERT INTO source_contents VALUES ($1, '1.0.0', $1::uuid::text)`,
    `INSERT INTO instance_grants (id, tenant_id, token_hash, uses, expires_at) VALUES ($1, $2, '', 1, now())`,
    `INSERT INTO webhooks (id, tenant_id, url, events, secret_sealed) VALUES ($1, $2, '', '{}', '')`,
    `INSERT INTO webhook_deliveries (id, webhook_id, tenant_id, message_id, event, payload, expires_at)
       VALUES ($1, $1, $2, $1, '', '', now())`,
    `INSERT INTO webhook_events (message_id, tenant_id, event, kind, record_id, shared, gone, happened_at)
       VALUES ($1, $2, '', '', $1, false, false, now())`,
  ]
  await all.query(`INSERT INTO roles (id, name) VALUES (gen_random_uuid(), 'r') ON CONFLICT DO NOTHING`)
  await addPending(all, { id, tenant_id: tenant })
  for (const statement of sql) {
    await all.query(statement, statement.includes('$2') ? [id, tenant] : [id])
  }
}

interface Table {
  name: string
  held: boolean
  is_partition: boolean
  policies: number
}

async function tables(): Promise<Table[]> {
  const { rows } = await all.query<Table>(
    `SELECT c.relname AS name, c.relrowsecurity AND c.relforcerowsecurity AS held, c.relispartition AS is_partition,
       (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid) AS policies
     FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY 1`,
  )
  return rows
}

const counted = async (db: Pick<Database, 'query'>, table: string) =>
  (await db.query<{ count: number }>(`SELECT count(*) FROM ${table}`)).rows[0]?.count

test('every table has row-level security or is listed with a reason', async () => {
  const found = await tables()
  expect(found.filter(({ held }) => !held).map(({ name }) => name)).toEqual(Object.keys(OPEN).sort())
  expect(found.filter(({ held, policies }) => held && policies === 0)).toEqual([])
})

test('a partition that is created later has row-level security', async () => {
  await all.query(
    `SELECT ensure_log_partition((now() AT TIME ZONE 'UTC')::date + day) FROM generate_series(0, 9) AS day`,
  )
  const partitions = (await tables()).filter(({ is_partition }) => is_partition)
  expect(partitions.length).toBeGreaterThan(9)
  expect(partitions.filter(({ held, policies }) => !held || policies !== 1)).toEqual([])
})

test('a partition shows its rows only to a connection that sees all tenants', async () => {
  const partitions = (await tables()).filter(({ is_partition }) => is_partition).map(({ name }) => name)
  const sum = async (setting: string) => {
    const client = await connectTo(made.url, setting)
    const counts = await Promise.all(partitions.map((name) => counted(client as never, name)))
    await client.end()
    return counts.reduce((total = 0, count = 0) => Number(total) + Number(count))
  }
  expect([await sum('*'), await sum(A), await sum('')]).toEqual([3, 0, 0])
})

describe('the setting of a connection', () => {
  const held = async () => (await tables()).filter((table) => table.held && !table.is_partition).map(({ name }) => name)
  /** Tables with shared rows. A tenant sees two rows there: its own and the shared row. */
  const SHARED = new Set([
    'environments',
    'targets',
    'target_tags',
    'target_facts',
    'agent_grants',
    'agents',
    'sources',
    'source_versions',
    'source_contents',
    'sensitive_names',
    'contents',
    'content_chunks',
    'freezes',
    'release_heads',
    'release_checks',
    'target_locks',
    'pending_targets',
  ])
  /**
   * Tables where a tenant sees no row: the content store and the exchange of tokens act for all tenants, grants belong to the
   * installation.
   */
  const NOBODYS = new Set(['content_uploads', 'exchanged_tokens', 'instance_grants'])
  const own = (name: string) => (NOBODYS.has(name) ? 0 : SHARED.has(name) ? 2 : 1)

  test('* sees every row of every table', async () => {
    for (const name of await held())
      expect([name, await counted(all, name)]).toEqual([name, name === 'tenants' ? 2 : 3])
  })

  test('the id of a tenant sees its own and shared rows in every table', async () => {
    const client = await connectTo(made.url, A)
    for (const name of await held()) {
      expect([name, await counted(client as never, name)]).toEqual([name, own(name)])
    }
    await client.end()
  })

  test.each(['', randomUUID()])('"%s" sees no rows of tenants', async (setting) => {
    const client = await connectTo(made.url, setting)
    for (const name of await held()) {
      const expected = setting !== '' && SHARED.has(name) ? 1 : 0
      expect([name, await counted(client as never, name)]).toEqual([name, expected])
    }
    await client.end()
  })

  test('the id of a tenant cannot write rows of another tenant or shared rows', async () => {
    const client = await connectTo(made.url, A)
    for (const tenant of [B, null]) {
      await expect(
        client.query('INSERT INTO environments (id, tenant_id, name) VALUES ($1, $2, $1::uuid::text)', [
          randomUUID(),
          tenant,
        ]),
      ).rejects.toThrow('row-level security')
    }
    expect((await client.query(`UPDATE environments SET description = 'x'`)).rowCount).toBe(1)
    expect(
      (
        await client.query(`DELETE FROM target_tags WHERE target_id IN (SELECT id FROM targets WHERE tenant_id = $1)`, [
          B,
        ])
      ).rowCount,
    ).toBe(0)
    await client.end()
  })

  test('a tenant sees the queue positions of other tenants and nothing else of their requests', async () => {
    const client = await connectTo(made.url, A)
    const { rows } = await client.query('SELECT * FROM waiting_places() ORDER BY position')
    expect(rows.map((row) => Number(row.position))).toEqual([1, 2, 3])
    expect(Object.keys(rows[0])).toEqual(['id', 'position', 'pool_position'])
    expect(await counted(client as never, 'pending_requests')).toBe(1)
    await client.end()
  })
})

describe('a database for callers', () => {
  const environments = async () => (await ofCallers.prisma()).environment.findMany({ orderBy: { created_at: 'asc' } })
  const tenantsOf = (rows: { tenant_id: string | null }[]) => rows.map(({ tenant_id }) => tenant_id)

  test('sees nothing without a tenant', async () => {
    expect(await environments()).toEqual([])
    expect(await counted(ofCallers, 'deployments')).toBe(0)
  })

  test('sees the rows of the tenant by Prisma, plain SQL and in transactions', async () => {
    await forTenant(A, async () => {
      expect(tenantsOf(await environments())).toEqual([A, null])
      expect(await counted(ofCallers, 'deployments')).toBe(1)
      expect(await ofCallers.transaction((tx) => counted(tx, 'deployments'))).toBe(1)
      expect(await (await ofCallers.prisma()).$transaction((tx) => tx.deployment.count())).toBe(1)
    })
    expect(await forTenant(null, () => counted(ofCallers, 'deployments'))).toBe(3)
    expect(await forAllTenants(() => counted(ofCallers, 'users'))).toBe(3)
    expect(await counted(ofCallers, 'deployments')).toBe(0)
  })

  test('separates concurrent callers that share its connections', async () => {
    const callers = [A, B, null, A, B]
    // No more at a time than a busy machine gives a connection to within the time limit of the pool.
    const ask = async (caller: number) => {
      const tenant = callers[caller % callers.length] ?? null
      for (let round = 0; round < 10; round += 1) {
        const rows = await forTenant(tenant, async () =>
          (caller + round) % 2 === 0
            ? await environments()
            : (await ofCallers.query<{ tenant_id: string | null }>('SELECT tenant_id FROM environments')).rows,
        )
        expect(new Set(tenantsOf(rows))).toEqual(new Set(tenant === null ? [A, B, null] : [tenant, null]))
      }
    }
    await Promise.all(Array.from({ length: 20 }, (_, caller) => ask(caller)))
  })

  test('sees no more rows through an option in the URL', async () => {
    const url = `${made.urlOf('gateway')}?options=${encodeURIComponent('-c slipway.tenant=*')}`
    const database = createDatabase({ url, applicationName: 'test', max: 1 })
    expect(await counted(database, 'deployments')).toBe(0)
    await database.close()
  })
})
