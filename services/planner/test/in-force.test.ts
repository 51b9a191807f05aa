import { describe, expect, test } from '@jest/globals'
import { deriveParts } from '@slipway/database'
import { KeyRing } from '@slipway/runtime'
import { valuesHashes } from '../src/planning/values-hash.ts'
import {
  ADMIN,
  addEnvironment,
  addSource,
  addTarget,
  addTenant,
  keyRing,
  OPERATOR,
  type Request,
  type StartCommand,
  storeDeployment,
} from './fixtures.ts'
import { testRig } from './rig.ts'

const rig = await testRig()
const { database } = rig

/** Creates a deployment and completes all its steps. */
async function deployed(request: Request, state = 'completed', caller = ADMIN): Promise<StartCommand> {
  const command = await rig.planned(request, caller)
  await storeDeployment(database, command)
  await database.query(
    `UPDATE steps SET state = $2::step_state, started_at = now(), completed_at = now() WHERE deployment_id = $1`,
    [command.command_id, state],
  )
  await database.transaction((tx) => deriveParts(tx, [command.command_id]))
  return command
}

const script = { type: 'script', script: 'true' }

async function scene() {
  const action = await addSource(database, {
    versions: {
      '1.0.0': { ...script, variables: [{ name: 'token', sensitive: true }] },
      '2.0.0': { ...script, variables: [{ name: 'token', sensitive: true }] },
    },
  })
  const [one, two] = [await addTarget(database), await addTarget(database)]
  const request = (fields: Partial<Request> = {}): Request => ({
    action_id: action.id,
    version_requirement: '1.0.0',
    target_ids: [one.id, two.id],
    ...fields,
  })
  return { action, one, two, request }
}

const unchangedIn = async (request: Request) =>
  (await rig.previewed(request)).unchanged_targets?.map(({ id }) => id).sort()

describe('a preview', () => {
  test('shows the releases in force on its targets', async () => {
    const { action, one, two, request } = await scene()
    const first = await deployed(request({ target_ids: [one.id], variables: { colour: 'blue', token: 'secret-1' } }))
    const next = request({ version_requirement: '2.0.0', variables: { colour: 'red', token: 'secret-2' } })
    const { replaces = [] } = await rig.previewed(next)
    expect(replaces).toHaveLength(2)
    expect(replaces.find(({ deployment_id }) => deployment_id !== null)).toEqual({
      deployment_id: first.command_id,
      version: '1.0.0',
      applied_at: expect.any(String),
      applied_by: null,
      target_count: 1,
      targets: [{ id: one.id, name: expect.any(String) }],
      unchanged_count: 0,
      difference: {
        versions: [{ kind: 'action', id: action.id, name: expect.any(String), before: '1.0.0', after: '2.0.0' }],
        variables: [{ name: 'colour', before: 'blue', after: 'red' }],
      },
    })
    expect(replaces.find(({ deployment_id }) => deployment_id === null)).toMatchObject({
      version: null,
      target_count: 1,
      targets: [{ id: two.id }],
      difference: null,
    })
  })

  test('lists the targets with the same versions and values in force', async () => {
    const { one, two, request } = await scene()
    const both = [one.id, two.id].sort()
    await deployed(request({ variables: { colour: 'blue' } }))
    expect(await unchangedIn(request({ variables: { colour: 'blue' } }))).toEqual(both)
    expect(await unchangedIn(request({ variables: { colour: 'red' } }))).toEqual([])
    expect(await unchangedIn(request())).toEqual([])
    expect(await unchangedIn(request({ version_requirement: '2.0.0', variables: { colour: 'blue' } }))).toEqual([])
    expect(
      await unchangedIn(
        request({ variables: { colour: 'blue' }, environment_id: await addEnvironment(database, null, {}) }),
      ),
    ).toEqual([])
    await database.query('UPDATE targets SET variables_sealed = $2 WHERE id = $1', [
      one.id,
      keyRing.seal(JSON.stringify({ port: 1 }), `target:${one.id}:variables`),
    ])
    expect(await unchangedIn(request({ variables: { colour: 'blue' } }))).toEqual([two.id])
  })

  test('does not list targets whose environment has other variables since', async () => {
    const { action, one } = await scene()
    const environment_id = await addEnvironment(database, null, { colour: 'blue' })
    const inside = await addTarget(database, { environment_id })
    const request = { action_id: action.id, target_ids: [one.id, inside.id] }
    await deployed(request)
    expect(await unchangedIn(request)).toEqual([one.id, inside.id].sort())
    await database.query('UPDATE environments SET variables_sealed = $2 WHERE id = $1', [
      environment_id,
      keyRing.seal(JSON.stringify({ colour: 'red' }), `environment:${environment_id}:variables`),
    ])
    expect(await unchangedIn(request)).toEqual([one.id])
  })

  test('confirms no secret of another user', async () => {
    const { one, two, request } = await scene()
    const withSecret = request({ variables: { token: 'secret-1' } })
    await deployed(withSecret)
    expect(await unchangedIn(withSecret)).toEqual([one.id, two.id].sort())
    const guess = async (caller: typeof ADMIN) => {
      const answer = await rig.ask('plan.preview', withSecret, caller)
      return (answer as { result?: { unchanged_targets: unknown[]; replaces: unknown[] } }).result
    }
    expect(await guess(OPERATOR)).toMatchObject({ unchanged_targets: [], replaces: [{ unchanged_count: 0 }] })
  })

  test('does not list a target whose last attempt failed', async () => {
    const { one, two, request } = await scene()
    await deployed(request())
    await deployed(request({ version_requirement: '2.0.0', target_ids: [one.id] }), 'failed')
    expect(await unchangedIn(request())).toEqual([two.id])
  })

  test('shows nothing of another tenant on a shared target', async () => {
    const { request } = await scene()
    const [mine, other] = [await addTenant(database), await addTenant(database)]
    const of = (tenant_id: string) => ({ ...ADMIN, tenant_id, may_override_freezes: false })
    const environmentOf = (tenant: string) => addEnvironment(database, tenant, {})
    await deployed(request({ environment_id: await environmentOf(other) }), 'completed', of(other))
    const asked = request({ environment_id: await environmentOf(mine) })
    const preview = await rig.ask('plan.preview', asked, of(mine))
    expect(preview).toMatchObject({ ok: true, result: { replaces: [{ deployment_id: null, target_count: 2 }] } })
  })
})

describe('only_changed', () => {
  test('leaves out unchanged targets and lists them', async () => {
    const { one, two, request } = await scene()
    await deployed(request({ target_ids: [one.id] }))
    const { plan, selection } = await rig.planned(request({ only_changed: true }))
    expect(plan.targets.map(({ id }) => id)).toEqual([two.id])
    expect(selection).toMatchObject({ target_ids: [one.id, two.id], unchanged_target_ids: [one.id] })
    const preview = await rig.previewed(request({ only_changed: true }))
    expect(preview.plan.target_count).toBe(1)
    expect(preview.unchanged_targets).toMatchObject([{ id: one.id }])
    expect(preview.replaces).toMatchObject([{ deployment_id: null, target_count: 1 }])
  })

  test('starts nothing if no target changes: that is an outcome of a create and refuses a preview', async () => {
    const { one, two, request } = await scene()
    await deployed(request())
    const unchanged = { unchanged_target_ids: [one.id, two.id] }
    const { command_id, ...created } = await rig.ask('plan.create', request({ only_changed: true }))
    expect(created).toMatchObject({ ok: true, result: { outcome: 'unchanged', ...unchanged } })
    expect(rig.started.map((command) => command.command_id)).not.toContain(command_id)
    const preview = await rig.ask('plan.preview', request({ only_changed: true }))
    expect(preview).toMatchObject({ ok: false, problem: { code: 'CONFLICT', details: unchanged } })
  })

  test('includes releases without a hash', async () => {
    const { request } = await scene()
    const first = await deployed(request())
    await database.query('UPDATE releases SET values_hash = NULL WHERE deployment_id = $1', [first.command_id])
    expect((await rig.planned(request({ only_changed: true }))).plan.targets).toHaveLength(2)
  })
})

test('hashes under an earlier key can be compared while the key is in the ring', async () => {
  const { request } = await scene()
  const { plan } = await rig.planned(request())
  const rotated = KeyRing.parse(
    `next:${Buffer.alloc(32, 1).toString('base64')},old:${Buffer.alloc(32, 2).toString('base64')}`,
  )
  const old = KeyRing.parse(`old:${Buffer.alloc(32, 2).toString('base64')}`)
  expect(valuesHashes(rotated, plan, 'old')).toEqual(valuesHashes(old, plan))
  expect(valuesHashes(rotated, plan)).not.toEqual(valuesHashes(old, plan))
  expect(valuesHashes(old, plan, 'lost')).toEqual([])
})
