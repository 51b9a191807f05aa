import { describe, expect, test } from '@jest/globals'
import type { InstanceSelector } from '@slipway/domain'
import { SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import { addEnvironment, addSource, addTarget, addTenant } from './fixtures.ts'
import { testRig } from './rig.ts'

const rig = await testRig()
const { database } = rig

const zone = (value: string): InstanceSelector => ({ match_labels: { zone: value } })
const select = (table: 'targets' | 'environments' | 'tenants', id: string, selector: InstanceSelector) =>
  database.query(`UPDATE ${table} SET instance_selector = $2 WHERE id = $1`, [id, selector])

async function selecting(name: string, selector: InstanceSelector | null, options: object = {}): Promise<string> {
  const { id } = await addTarget(database, { name: `${name}-${uuidv7()}`, ...options })
  if (selector !== null) await select('targets', id, selector)
  return id
}

async function addInstance(labels: Record<string, string>): Promise<string> {
  const id = uuidv7()
  await database.query(
    `INSERT INTO instances (id, name, version, capacity, credential_hash, last_heartbeat_at, labels)
     VALUES ($1, $2, '${SLIPWAY_VERSION}', 1, '', now(), $3)`,
    [id, `instance-${id}`, labels],
  )
  await database.query('INSERT INTO instance_slots (instance_id, slot) VALUES ($1, 0)', [id])
  return id
}

const action_id = (await addSource(database)).id
const selectorOf = async (request: object) => (await rig.planned({ action_id, ...request })).plan.instance_selector

describe('the instance selector of a plan contains', () => {
  test('nothing if no record selects instances', async () => {
    expect(await selectorOf({ target_ids: [await selecting('x', null)] })).toBeUndefined()
  })

  test('the selectors of its targets, their environments and tenants', async () => {
    const tenant_id = await addTenant(database)
    const environment_id = await addEnvironment(database, tenant_id)
    await select('tenants', tenant_id, { match_labels: { owner: 'acme' } })
    await select('environments', environment_id, { match_expressions: [{ key: 'spot', operator: 'DoesNotExist' }] })
    const target = await selecting('x', zone('a'), { tenant_id, environment_id })
    const other = await selecting('y', null)
    expect(await selectorOf({ target_ids: [target, other], tenant_id })).toEqual({
      match_labels: { owner: 'acme', zone: 'a' },
      match_expressions: [{ key: 'spot', operator: 'DoesNotExist' }],
    })
  })

  test('the selectors of its own tenant and environment', async () => {
    const [tenant_id, environment_id] = [await addTenant(database), await addEnvironment(database)]
    await select('tenants', tenant_id, zone('a'))
    await select('environments', environment_id, { match_labels: { stage: 'prod' } })
    expect(await selectorOf({ target_ids: [await selecting('x', null)], tenant_id, environment_id })).toEqual({
      match_labels: { stage: 'prod', zone: 'a' },
    })
  })
})

test('targets of pools that exclude each other are refused, by create and preview', async () => {
  const [a, b] = [await selecting('a', zone('a')), await selecting('b', zone('b'))]
  const { code, message, details } = (await rig.refused({ action_id, target_ids: [a, b] })) as {
    code: string
    message: string
    details: Record<string, unknown>
  }
  expect(code).toBe('VALIDATION_ERROR')
  expect(message).toContain('deploy to each pool on its own: zone=a ("a-')
  expect(details).toMatchObject({
    errors: [{ path: '/target_ids' }],
    pools: [
      { pool: 'zone=a', target_count: 1, targets: [{ id: a }] },
      { pool: 'zone=b', target_count: 1, targets: [{ id: b }] },
    ],
  })
})

describe('a preview and a create warn of', () => {
  const warningsOf = async (target_ids: string[]) => {
    const { warnings = [] } = await rig.planned({ action_id, target_ids })
    const { blockers, warnings: previewed } = await rig.previewed({ action_id, target_ids })
    expect(previewed).toEqual([...blockers.map(({ message }) => message), ...warnings])
    return warnings.map((text) => text.replace(/-[0-9a-f-]{36}/g, ''))
  }

  test('targets that no online instance matches', async () => {
    const targets = [await selecting('a1', zone('a')), await selecting('a2', zone('a'))]
    await addInstance({ zone: 'b' })
    expect(await warningsOf(targets)).toEqual([
      'Target "a1" and 1 more need an instance that matches zone=a, and none is online: the deployment waits until one is',
    ])
    const fit = await addInstance({ zone: 'a' })
    expect(await warningsOf(targets)).toEqual([])
    await database.query(`UPDATE instances SET last_heartbeat_at = now() - interval '1 minute' WHERE id = $1`, [fit])
    expect(await warningsOf(targets)).toHaveLength(1)
  })

  test('targets that no single instance matches together', async () => {
    await addInstance({ zone: 'a' })
    await addInstance({ disk: 'ssd' })
    const targets = [await selecting('a', zone('a')), await selecting('s', { match_labels: { disk: 'ssd' } })]
    expect(await warningsOf(targets)).toEqual([
      'No online instance matches disk=ssd,zone=a, which the targets need together: the deployment waits until one does',
    ])
  })

  test('targets that the last probe of a matching instance did not reach', async () => {
    const [fit, other] = [await addInstance({ zone: 'a' }), await addInstance({ zone: 'b' })]
    const target = await selecting('far', zone('a'), { connection: { type: 'ssh', host: 'far', username: 'x' } })
    await database.query('INSERT INTO target_facts (target_id, missed_by) VALUES ($1, $2)', [target, fit])
    expect(await warningsOf([target])).toEqual([
      'The last probe of target "far" by instance "instance" did not reach it',
    ])
    await database.query('UPDATE target_facts SET missed_by = $1', [other])
    expect(await warningsOf([target])).toEqual([])
  })
})
