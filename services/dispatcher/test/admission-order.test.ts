import { expect, test } from '@jest/globals'
import { readRound } from '@slipway/database'
import { admit } from '@slipway/engine'
import { uuidv7 } from '@slipway/runtime'
import { applySettings } from '../src/pending/settings.ts'
import { testDatabase } from './database.ts'
import { ADMIN, addInstance, queue, startCommand, startDeployment } from './fixtures.ts'

const { database, catalog } = await testDatabase()

const random = (() => {
  let state = 20_261_122
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state % below
  }
})()

interface Row {
  id: string
  rank: number
  tenant_id: string | null
  admin: boolean
}

/** The reference: applies the rule to one request after the other. */
function expected(rows: Row[], of: { limit: number; frozen: boolean; room: number | null }) {
  const started = new Map<string, number>()
  const found: string[] = []
  for (const { id, tenant_id, admin } of rows) {
    if (found.length === of.limit) break
    // The freeze covers the tenant, and administrators override it.
    if (of.frozen && tenant_id === catalog.tenant_id && !admin) continue
    if (of.room !== null && tenant_id !== null) {
      const running = started.get(tenant_id) ?? 0
      if (running >= of.room) continue
      started.set(tenant_id, running + 1)
    }
    found.push(id)
  }
  return found
}

test('requests start in queue order without those held by a freeze, a tenant limit or missing slots, in every combination', async () => {
  const other = uuidv7()
  await database.query(`INSERT INTO tenants (id, name, slug) VALUES ($1, 'other', 'other')`, [other])
  for (let n = 0; n < 60; n += 1) {
    const tenant = random(3) === 0 ? null : random(2) === 0 ? catalog.tenant_id : other
    const command = startCommand(catalog, {
      priority: random(5) - 2,
      freeze_override: random(3) === 0 ? { reason: 'x' } : null,
      caller: random(2) === 0 ? ADMIN : { ...ADMIN, may_override_freezes: false },
    })
    if (tenant !== null) command.plan.tenant = { id: tenant, name: 'x' }
    await startDeployment(database, command, { request_id: null })
  }
  const { rows } = await database.query<Row>(
    `SELECT id, rank, tenant_id, freeze_subject #>> '{caller,may_override_freezes}' = 'true' AND (freeze_subject -> 'override')::boolean AS admin
       FROM pending_requests ORDER BY rank, id`,
  )
  expect(rows).toHaveLength(60)
  await addInstance(database, 100)
  for (const frozen of [false, true]) {
    await database.query('DELETE FROM freezes')
    if (frozen) {
      await database.query(
        `INSERT INTO freezes (id, name, start_time, end_time, tenant_id)
         VALUES ($1, 'x', now() - interval '1 hour', now() + interval '1 hour', $2)`,
        [uuidv7(), catalog.tenant_id],
      )
    }
    for (const room of [null, 1, 4]) {
      await applySettings(database, { ...queue, tenant_running_limit: room })
      for (const limit of [1, 7, 100]) {
        await database.query('UPDATE instance_slots SET retired = slot >= $1', [limit])
        const { snapshot, requests } = await readRound(database, { arrivals: [], heldOrphans: [] })
        const started = admit(snapshot, requests, snapshot.now).flatMap(({ is, request }) =>
          is === 'start' ? [request.id] : [],
        )
        expect(started).toEqual(expected(rows, { limit, frozen, room }))
      }
    }
  }
  await applySettings(database, queue)
})
