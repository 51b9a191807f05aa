import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { addTenant, type Client, clientOf, refusal, refused, startGateway, type TestGateway } from './setup.ts'

const LIMIT = 5
const PATH = '/deployment-freezes'

let gateway: TestGateway
let admin: Client
let ofA: Client
let tenant: string
beforeAll(async () => {
  gateway = await startGateway({ freezesPerTenant: LIMIT })
  admin = clientOf(gateway, gateway.adminToken)
  const a = await addTenant(gateway, 'A')
  ofA = a.admin
  tenant = a.id
})
afterAll(() => gateway.close())
beforeEach(() => gateway.database.query('DELETE FROM freezes'))

const iso = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
const live = { start_time: iso(-2), end_time: iso(1) }
const ended = { start_time: iso(-2), end_time: iso(-1) }
const stamp = (hours: number) => iso(hours).replaceAll(/[-:]|\.\d+/g, '')

let counter = 0
const create = (client: Client, body: object) => client.send('createFreeze', PATH, { name: `f ${++counter}`, ...body })
const created = async (client: Client, body: object) => {
  const { status, body: freeze } = await create(client, body)
  expect(status).toBe(201)
  return String(freeze.id)
}
const update = (client: Client, id: string, body: object) => client.send('updateFreeze', `${PATH}/${id}`, body)
const fill = async (client: Client) => {
  for (let count = 0; count < LIMIT; count += 1) await created(client, live)
}
const tooMany = refused(409, 'CONFLICT', { limit: LIMIT })

describe('the limit of unfinished freezes of a tenant', () => {
  test('applies to concurrent creates', async () => {
    const answers = await Promise.all(Array.from({ length: 4 * LIMIT }, () => create(ofA, live)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(LIMIT)
    for (const answer of answers) if (answer.status !== 201) expect(refusal(answer)).toMatchObject(tooMany)
    const { rows } = await gateway.database.query<{ n: number }>('SELECT count(*) AS n FROM freezes')
    expect(rows).toEqual([{ n: LIMIT }])
  })

  test('counts freezes without a tenant as one more tenant', async () => {
    await fill(ofA)
    await fill(admin)
    expect(refusal(await create(admin, live))).toMatchObject(tooMany)
    expect(refusal(await create(admin, { ...live, tenant_id: tenant }))).toMatchObject(tooMany)
  })

  test('does not count ended freezes, and refuses to make them active beyond the limit', async () => {
    await fill(ofA)
    const once = await created(ofA, ended)
    const recurring = { ...ended, recurrence: `FREQ=DAILY;UNTIL=${stamp(-1)}` }
    const until = await created(ofA, recurring)
    const counted = await created(ofA, { ...ended, recurrence: 'FREQ=DAILY;COUNT=1' })
    expect(refusal(await update(ofA, once, { end_time: iso(1) }))).toMatchObject(tooMany)
    expect(refusal(await update(ofA, until, { recurrence: 'FREQ=DAILY' }))).toMatchObject(tooMany)
    expect(refusal(await update(ofA, counted, { recurrence: 'FREQ=DAILY;COUNT=500' }))).toMatchObject(tooMany)
    // The recurrence still ends in the past.
    expect((await update(ofA, until, { time_zone: 'Etc/UTC' })).status).toBe(200)
    expect((await update(ofA, until, { description: 'stays as it is' })).status).toBe(200)
  })

  test('applies to a freeze that moves to another tenant', async () => {
    await fill(ofA)
    const id = await created(admin, live)
    expect(refusal(await update(admin, id, { tenant_id: tenant }))).toMatchObject(tooMany)
  })
})

test('a freeze from before the limit on windows can be renamed, but not get times that violate it', async () => {
  const id = await created(admin, { ...live, recurrence: 'FREQ=DAILY' })
  await gateway.database.query(`UPDATE freezes SET end_time = start_time + interval '30 hours'`)
  expect((await update(admin, id, { name: 'another name' })).body).toMatchObject({ name: 'another name', active: true })
  const error = refused(400, 'VALIDATION_ERROR', { errors: [{ path: '/recurrence' }] })
  expect(refusal(await update(admin, id, { end_time: iso(24) }))).toMatchObject(error)
})
