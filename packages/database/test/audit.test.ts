import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type Database, LOCK_KEYS } from '@slipway/database'
import {
  type AuditEntry,
  auditCount,
  chainHead,
  countOldAudit,
  dropOldAudit,
  linkAudit,
  recordAudit,
  verifyAudit,
  verifyAuditPart,
} from '@slipway/database/audit'
import { uuidv7 } from '@slipway/runtime'
import { type OpenTestDatabase, openTestDatabase } from '@slipway/testing'

let testDatabase: OpenTestDatabase
/** A connection as the owner of the tables. Tests prepare and inspect rows with it. */
let database: Database
let gateway: Database
let dispatcher: Database
let verifier: Database

beforeAll(async () => {
  testDatabase = await openTestDatabase()
  database = testDatabase.database
  gateway = testDatabase.as('gateway')
  dispatcher = testDatabase.as('dispatcher')
  verifier = testDatabase.as('audit-verify')
})
afterAll(() => testDatabase.drop())
beforeEach(() => tamper('TRUNCATE audit_records, audit_links RESTART IDENTITY'))

/** Runs SQL as the owner of the tables with the append-only triggers disabled. */
async function tamper(sql: string): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query('ALTER TABLE audit_records DISABLE TRIGGER USER')
    await tx.query('ALTER TABLE audit_links DISABLE TRIGGER USER')
    await tx.query(sql)
    await tx.query('ALTER TABLE audit_records ENABLE TRIGGER USER')
    await tx.query('ALTER TABLE audit_links ENABLE TRIGGER USER')
  })
}

const entry = (details: Record<string, unknown> = {}): AuditEntry => ({
  actor_id: uuidv7(),
  actor_name: 'ada "the first"',
  actor_ip: '192.0.2.7',
  action: 'target.update',
  resource_type: 'target',
  resource_id: 'x',
  tenant_id: null,
  request_id: null,
  details,
})

const KEY = { id: uuidv7(), name: 'pipeline' }

const hashes = async () =>
  (await database.query<{ hash: string }>('SELECT hash FROM audit_links ORDER BY position')).rows.map(
    ({ hash }) => hash,
  )

/** Writes `count` records, each in its own transaction, and links all of them. */
async function linked(count: number): Promise<void> {
  for (let n = 1; n <= count; n += 1)
    await recordAudit(gateway, [{ ...entry({ n, big: 2 ** 60, text: 'é\n' }), api_key: KEY }])
  expect(await linkAudit(gateway, { late: true })).toMatchObject({ position: count, linked: count, more: false })
}

const verdict = () => verifyAudit(verifier, { page: 3 })
const whole = (links: number) => ({ links, broken: 0, findings: [] })

describe('records', () => {
  test('concurrent writers of the same record id write it once', async () => {
    const id = uuidv7()
    const second = await gateway.transaction(async (tx) => {
      expect(await recordAudit(tx, [{ ...entry(), id }])).toBe(1)
      return { written: recordAudit(gateway, [{ ...entry(), id }, entry()]) }
    })
    expect(await second.written).toBe(1)
    const { rows } = await database.query('SELECT id FROM audit_records WHERE id = $1', [id])
    expect(rows).toHaveLength(1)
  })

  test('records and links cannot be updated or deleted', async () => {
    await linked(1)
    for (const table of ['audit_records', 'audit_links']) {
      for (const sql of [`DELETE FROM ${table}`, `TRUNCATE ${table}`]) {
        await expect(database.query(sql)).rejects.toThrow('append-only')
      }
    }
    await expect(database.query(`UPDATE audit_records SET action = 'a.b'`)).rejects.toThrow('append-only')
    await expect(database.query(`UPDATE audit_links SET hash = ''`)).rejects.toThrow('append-only')
  })

  test('the count includes records that no link covers yet', async () => {
    expect(await auditCount(gateway)).toBe(0)
    await linked(4)
    await recordAudit(gateway, [entry(), entry()])
    expect(await auditCount(gateway)).toBe(6)
  })
})

describe('the chain', () => {
  test('every record is in the chain once, under eight writers and two linkers', async () => {
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let n = 0; n < 25; n += 1) {
        await gateway.transaction(async (tx) => {
          await recordAudit(tx, [entry({ writer, n })])
          // Rolled-back transactions leave gaps in the numbers. The sleep lets transactions commit out of number order.
          if (n % 5 === 4) await tx.query('SELECT pg_sleep(0.003)')
        })
        if (n % 10 === 9) {
          const undone = gateway.transaction(async (tx) => {
            await recordAudit(tx, [entry()])
            throw new Error('undone')
          })
          await expect(undone).rejects.toThrow('undone')
        }
      }
    })
    let writing = true
    const linkers = [1, 2].map(async () => {
      let passes = 0
      while (writing) {
        await linkAudit(gateway, { late: passes % 2 === 1, batch: 7 })
        passes += 1
      }
      return passes
    })
    await Promise.all(writers)
    writing = false
    expect(Math.min(...(await Promise.all(linkers)))).toBeGreaterThan(1)
    while ((await linkAudit(gateway, { late: true, batch: 7 }))?.more);
    expect(await verdict()).toMatchObject(whole(200))
    expect(await auditCount(gateway)).toBe(200)
  })

  test('a linker adds a record that commits after records with higher numbers', async () => {
    await gateway.transaction(async (late) => {
      await recordAudit(late, [entry({ late: true })])
      await recordAudit(gateway, [entry()])
      expect(await linkAudit(gateway, { late: false })).toMatchObject({ position: 1, linked: 1 })
    })
    expect(await linkAudit(gateway, { late: false })).toMatchObject({ linked: 0 })
    expect(await auditCount(gateway)).toBe(2)
    expect(await linkAudit(gateway, { late: true })).toMatchObject({ position: 2, linked: 1 })
    expect(await verdict()).toMatchObject(whole(2))
  })

  test('a linker continues where another process stopped, and only one linker works at a time', async () => {
    await linked(3)
    await database.transaction(async (tx) => {
      await tx.query(`SELECT pg_advisory_xact_lock(${LOCK_KEYS.auditChain})`)
      expect(await linkAudit(gateway, { late: true })).toBeNull()
    })
    await recordAudit(gateway, [entry()])
    expect(await linkAudit(gateway, { late: false })).toMatchObject({ position: 4 })
    expect(await verdict()).toMatchObject(whole(4))
  })
})

describe('retention', () => {
  /** Writes `count` linked records. The first `old` of them are 100 days old. */
  async function aged(count: number, old: number): Promise<void> {
    for (let n = 1; n <= count; n += 1) await recordAudit(gateway, [entry({ n })])
    await tamper(`UPDATE audit_records SET at = at - interval '100 days' WHERE number <= ${old}`)
    await linkAudit(gateway, { late: true })
  }

  test('retention drops the oldest records, and the remaining chain verifies and grows', async () => {
    await aged(9, 5)
    expect(await countOldAudit(dispatcher, 90, 2)).toBe(5)
    expect(await dropOldAudit(dispatcher, 90, 2)).toBe(2)
    expect(await auditCount(gateway)).toBe(8)
    for (let dropped = 1; dropped > 0; ) dropped = await dropOldAudit(dispatcher, 90)
    expect(await auditCount(gateway)).toBe(6)
    const { rows } = await database.query(
      `SELECT details ->> 'n' AS n FROM audit_records WHERE action = 'target.update' ORDER BY number`,
    )
    expect(rows.map(({ n }) => n)).toEqual(['6', '7', '8', '9'])
    await recordAudit(gateway, [entry()])
    await linkAudit(gateway, { late: true })
    expect(await verdict()).toMatchObject({ ...whole(7), dropped: 5, head: { position: 12 } })
    expect(await countOldAudit(dispatcher, 90)).toBe(0)
  })

  test('a noted head detects records that retention dropped', async () => {
    await aged(6, 3)
    const noted = { position: 2, hash: (await hashes())[1] ?? '' }
    await dropOldAudit(dispatcher, 90)
    await linkAudit(gateway, { late: true })
    expect(await verdict()).toMatchObject(whole(4))
    const { findings } = await verifyAudit(verifier, { expect: noted })
    expect(findings).toMatchObject([{ position: 2, problem: expect.stringContaining('is gone') }])
  })

  test('retention keeps the last link of the chain and its own drop record at any age', async () => {
    await aged(4, 4)
    expect(await dropOldAudit(dispatcher, 90)).toBe(3)
    await linkAudit(gateway, { late: true })
    await tamper(`UPDATE audit_records SET action = action`)
    expect(await verdict()).toMatchObject(whole(2))
    expect(await dropOldAudit(dispatcher, 90)).toBe(1)
    await linkAudit(gateway, { late: true })
    expect(await dropOldAudit(dispatcher, 90)).toBe(0)
    expect(await verdict()).toMatchObject({ ...whole(2), dropped: 4 })
  })

  test('records that retention has not dropped cannot be deleted unnoticed', async () => {
    await aged(6, 3)
    await dropOldAudit(dispatcher, 90)
    await expect(database.query('DELETE FROM audit_records WHERE number = 4')).rejects.toThrow('append-only')
    await expect(database.query('DELETE FROM audit_links WHERE position = 4')).rejects.toThrow('append-only')
    await tamper('DELETE FROM audit_records WHERE number = 4')
    expect((await verdict()).findings).toMatchObject([{ position: 4, problem: 'the record was deleted' }])
  })

  test('retention drops no record if a record was tampered with', async () => {
    await aged(6, 5)
    await tamper(`UPDATE audit_records SET actor_name = 'eve' WHERE number = 2`)
    await expect(dropOldAudit(dispatcher, 90)).rejects.toThrow('broken at position 2')
    expect(await auditCount(gateway)).toBe(6)
  })

  test('verification detects deleted records behind a forged drop record', async () => {
    await aged(6, 0)
    await recordAudit(gateway, [{ ...entry({ position: 3, hash: 'f'.repeat(64) }), action: 'audit.drop' }])
    await tamper('DELETE FROM audit_records WHERE number <= 3')
    await tamper('DELETE FROM audit_links WHERE position <= 3')
    await linkAudit(gateway, { late: true })
    expect((await verdict()).findings).toMatchObject([{ position: 4, problem: expect.stringContaining('was changed') }])
  })
})

describe('verification finds', () => {
  const first = async () => (await verdict()).findings[0]

  test.each([
    [
      'its details',
      `UPDATE audit_records SET details = jsonb_set(details, '{big}', '1152921504606846977') WHERE number = 5`,
    ],
    ['its time', `UPDATE audit_records SET at = at - interval '1 ms' WHERE number = 5`],
    ['its actor', `UPDATE audit_records SET actor_id = NULL WHERE number = 5`],
    ['its API key', `UPDATE audit_records SET details = details - 'api_key' WHERE number = 5`],
    ['its id', `UPDATE audit_records SET id = gen_random_uuid() WHERE number = 5`],
    ['its tenant', `UPDATE audit_records SET tenant_id = gen_random_uuid() WHERE number = 5`],
    ['an empty field for an absent one', `UPDATE audit_records SET request_id = '' WHERE number = 5`],
    ['the hash of its link', `UPDATE audit_links SET hash = repeat('a', 64) WHERE position = 5`],
  ])('a changed record: %s', async (_, sql) => {
    await linked(8)
    await tamper(sql)
    expect(await first()).toMatchObject({ position: 5, record_number: 5 })
  })

  test('a deleted record, with and without its link', async () => {
    await linked(8)
    await tamper('DELETE FROM audit_records WHERE number = 4')
    expect(await verdict()).toMatchObject({
      broken: 1,
      findings: [{ position: 4, record_number: 4, problem: 'the record was deleted' }],
    })
    await tamper('DELETE FROM audit_links WHERE position IN (4, 5)')
    const { findings } = await verdict()
    expect(findings[0]).toMatchObject({ position: 4, problem: 'links 4 to 5 are missing' })
  })

  test('a deleted record if the later links were moved up', async () => {
    await linked(8)
    await tamper(`DELETE FROM audit_records WHERE number = 4; DELETE FROM audit_links WHERE position = 4;
                  UPDATE audit_links SET position = position - 1 WHERE position = 5;
                  UPDATE audit_links SET position = position - 1 WHERE position = 6;
                  UPDATE audit_links SET position = position - 1 WHERE position = 7;
                  UPDATE audit_links SET position = position - 1 WHERE position = 8`)
    expect(await first()).toMatchObject({ position: 4, record_number: 5 })
  })

  test('records in another order', async () => {
    await linked(8)
    await tamper(`UPDATE audit_links SET record_number = -1 WHERE position = 3;
                  UPDATE audit_links SET record_number = 3 WHERE position = 4;
                  UPDATE audit_links SET record_number = 4 WHERE position = 3`)
    expect(await verdict()).toMatchObject({ broken: 2, findings: [{ position: 3 }, { position: 4 }] })

    await tamper(`UPDATE audit_records SET number = -1 WHERE number = 6;
                  UPDATE audit_records SET number = 6 WHERE number = 7;
                  UPDATE audit_records SET number = 7 WHERE number = -1`)
    expect((await verdict()).findings.map(({ position }) => position)).toEqual([3, 4, 6, 7])
  })

  test('a record that was inserted without a link', async () => {
    await linked(3)
    // The gaps between the numbers stand for transactions that were rolled back long ago.
    await tamper(
      `UPDATE audit_records SET number = number * 10; UPDATE audit_links SET record_number = record_number * 10`,
    )
    await tamper('TRUNCATE audit_links')
    await tamper(`UPDATE audit_records SET at = now() - interval '1 hour' WHERE number <= 20`)
    await linkAudit(gateway, { late: true })
    await tamper(`INSERT INTO audit_records (number, id, at, action, resource_type, details)
                  VALUES (15, gen_random_uuid(), now() - interval '1 hour', 'a.b', 'a', '{}')`)
    expect(await linkAudit(gateway, { late: true })).toMatchObject({ linked: 0 })
    expect(await verdict()).toMatchObject({ links: 3, broken: 1, findings: [{ position: null, record_number: 15 }] })
  })

  test('a record without a link after a minute, and no younger record', async () => {
    await linked(2)
    await recordAudit(gateway, [entry()])
    expect(await verdict()).toMatchObject(whole(2))
    await tamper(`UPDATE audit_records SET at = now() - interval '61 s' WHERE number = 3`)
    expect(await first()).toMatchObject({ position: null, record_number: 3 })
  })

  test('a rebuilt chain, by comparison with a noted head', async () => {
    await linked(5)
    const expected = await chainHead(gateway)
    await tamper(`UPDATE audit_records SET action = 'a.b' WHERE number = 2; TRUNCATE audit_links`)
    await linkAudit(gateway, { late: true })
    expect(await verdict()).toMatchObject(whole(5))
    const noted = await verifyAudit(verifier, { expect: expected })
    expect(noted.findings).toMatchObject([{ position: 5 }])
  })

  test('a truncated end of the chain, by comparison with a noted head', async () => {
    await linked(5)
    const expected = await chainHead(gateway)
    await tamper('DELETE FROM audit_records WHERE number > 3; DELETE FROM audit_links WHERE position > 3')
    expect(await verdict()).toMatchObject(whole(3))
    expect((await verifyAudit(verifier, { expect: expected })).findings).toMatchObject([{ position: 5 }])
    expect((await verifyAudit(verifier, { expect: await chainHead(gateway) })).broken).toBe(0)
  })
})

describe('verification in parts', () => {
  /** Verifies the whole chain in parts of `limit` links and returns all parts. */
  async function walk(limit: number) {
    const parts = []
    for (let after: number | null = 0; after !== null; ) {
      const part = await verifyAuditPart(gateway, { after, limit })
      parts.push(part)
      after = part.next
    }
    return parts
  }

  test('the parts cover the chain, and a call without a position verifies the newest links', async () => {
    await linked(10)
    const parts = await walk(4)
    expect(parts.map(({ after, links, next, broken }) => [after, links, next, broken])).toEqual([
      [0, 4, 4, 0],
      [4, 4, 8, 0],
      [8, 2, null, 0],
    ])
    const head = await chainHead(database)
    expect(await verifyAuditPart(gateway, { limit: 4 })).toEqual({
      after: 6,
      links: 4,
      next: null,
      head,
      dropped: 0,
      broken: 0,
      findings: [],
    })
    expect(await verifyAuditPart(gateway, { after: 1_000, limit: 4 })).toMatchObject({
      after: 10,
      links: 0,
      next: null,
    })
  })

  test('a part of an empty log has no findings', async () => {
    expect(await verifyAuditPart(gateway, {})).toMatchObject({ after: 0, links: 0, next: null, broken: 0 })
  })

  test.each([
    ['a changed record', `UPDATE audit_records SET actor_name = 'eve' WHERE number = 5`, [5]],
    ['the last record of a part, changed', `UPDATE audit_records SET actor_name = 'eve' WHERE number = 4`, [4]],
    ['a deleted record', 'DELETE FROM audit_records WHERE number = 9', [9]],
    [
      'a deleted record with its link',
      'DELETE FROM audit_records WHERE number = 6; DELETE FROM audit_links WHERE position = 6',
      [6, 7],
    ],
  ])('the parts find %s once', async (_, sql, positions) => {
    await linked(10)
    await tamper(sql)
    const findings = (await walk(4)).flatMap((part) => part.findings)
    expect(findings.map(({ position }) => position)).toEqual(positions)
  })

  test('the parts find each record without a link once', async () => {
    for (let n = 0; n < 10; n += 1) await recordAudit(gateway, [entry({ n })])
    await tamper(`UPDATE audit_records SET at = now() - interval '1 hour'`)
    await linkAudit(gateway, { late: true })
    await tamper('DELETE FROM audit_links WHERE position >= 10')
    await tamper('UPDATE audit_links SET record_number = 100 WHERE position = 3')
    const outside = (await walk(4)).flatMap((part) => part.findings.filter(({ position }) => position === null))
    expect(outside.map(({ record_number }) => record_number)).toEqual([3, 10])
  })
})
