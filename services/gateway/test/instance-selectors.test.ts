import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Client, clientOf, startGateway, type TestGateway } from './setup.ts'

let gateway: TestGateway
let admin: Client
let count = 0

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
})
afterAll(() => gateway.close())

const KINDS = [
  ['Target', '/targets', { connection: { type: 'local' } }],
  ['Environment', '/environments', {}],
  ['Tenant', '/tenants', {}],
] as const
const SELECTOR = {
  match_labels: { zone: 'a' },
  match_expressions: [
    { key: 'disk', operator: 'In', values: ['ssd', 'hdd'] },
    { key: 'spot', operator: 'DoesNotExist' },
  ],
}

describe.each(KINDS)('the instance selector of a %s', (kind, path, fields) => {
  const create = (more: object) => {
    count += 1
    return admin.send(`create${kind}`, path, { name: `${kind} ${count}`, ...fields, ...more })
  }
  const read = async (id: string) => (await admin.send(`get${kind}`, `${path}/${id}`)).body.instance_selector
  const change = (id: string, body: object) => admin.send(`update${kind}`, `${path}/${id}`, body)

  test('is stored unchanged, and is null for a record without one', async () => {
    const [with_, without] = [await create({ instance_selector: SELECTOR }), await create({})]
    expect([with_.status, without.status]).toEqual([201, 201])
    expect(await read(with_.body.id)).toEqual(SELECTOR)
    expect(await read(without.body.id)).toBeNull()
    const listed = (await admin.send(`list${kind}s`, path)).body.data as { id: string; instance_selector: unknown }[]
    expect(listed.find(({ id }) => id === with_.body.id)?.instance_selector).toEqual(SELECTOR)
  })

  test('changes only if the request names it, and null removes it', async () => {
    const { id } = (await create({ instance_selector: SELECTOR })).body
    await change(id, { description: 'x' })
    expect(await read(id)).toEqual(SELECTOR)
    const replaced = await change(id, { instance_selector: { match_labels: { zone: 'b' } } })
    expect(replaced.body.instance_selector).toEqual({ match_labels: { zone: 'b' } })
    await change(id, { instance_selector: null })
    expect(await read(id)).toBeNull()
    const { rows } = await gateway.database.query<{ details: { changes?: Record<string, unknown> } }>(
      'SELECT details FROM audit_records WHERE resource_id = $1',
      [id],
    )
    const changes = rows.map(({ details }) => details.changes?.['instance_selector'])
    expect(changes).toContainEqual({ from: SELECTOR, to: { match_labels: { zone: 'b' } } })
  })
})

test.each([
  [{}, '/instance_selector'],
  [{ match_labels: { zone: 1 } }, '/instance_selector/match_labels/zone'],
  [{ match_label: { zone: 'a' } }, '/instance_selector/match_label'],
  [{ match_expressions: [{ key: 'zone' }] }, '/instance_selector/match_expressions/0/operator'],
  [{ match_expressions: [{ key: 'zone', operator: 'in' }] }, '/instance_selector/match_expressions/0/operator'],
  [{ match_expressions: [{ key: 'zone', operator: 'In' }] }, '/instance_selector/match_expressions/0/values'],
  [
    { match_expressions: [{ key: 'zone', operator: 'NotIn', values: [] }] },
    '/instance_selector/match_expressions/0/values',
  ],
  [
    { match_expressions: [{ key: 'zone', operator: 'Exists', values: ['a'] }] },
    '/instance_selector/match_expressions/0/values',
  ],
  [
    { match_labels: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`l${n}`, 'x'])) },
    '/instance_selector/match_labels',
  ],
])('%j is refused at %s alone', async (instance_selector, path) => {
  const { status, body } = await admin.send('createEnvironment', '/environments', { name: 'x', instance_selector })
  expect(status).toBe(400)
  const paths = (body.error.details.errors ?? []).map((error: { path: string }) => error.path)
  expect([...new Set(paths)]).toEqual([path])
})
