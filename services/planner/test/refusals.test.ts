import { describe, expect, test } from '@jest/globals'
import { encodeSqid } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { addUser } from '@slipway/testing'
import { ADMIN, addEnvironment, addSource, addTarget, addTenant, OPERATOR, type Request } from './fixtures.ts'
import { testRig } from './rig.ts'

const rig = await testRig()
const { database } = rig

const pathsOf = (problem: { details?: Record<string, unknown> }) =>
  (problem.details as { errors: { path: string }[] }).errors.map(({ path }) => path)

describe('a request is refused with', () => {
  test('unknown records, all reported at once', async () => {
    const [action_id, targetId, tenant_id, environment_id] = [uuidv7(), uuidv7(), uuidv7(), uuidv7()]
    const known = await addTarget(database)
    const sqid = encodeSqid('target', 2_000_000_000)
    const problem = await rig.refused({ action_id, tenant_id, environment_id, target_ids: [known.id, targetId, sqid] })
    expect(problem.code).toBe('NOT_FOUND')
    expect(problem.details).toEqual({
      missing: [
        { path: '/action_id', id: action_id },
        { path: '/target_ids/1', id: targetId },
        { path: '/target_ids/2', id: sqid },
        { path: '/tenant_id', id: tenant_id },
        { path: '/environment_id', id: environment_id },
      ],
    })
    // The id of an action is not the id of a sequence.
    const { id } = await addSource(database)
    expect(await rig.refused({ sequence_id: id, target_ids: [known.id] })).toMatchObject({
      details: { missing: [{ path: '/sequence_id', id }] },
    })
  })

  test('records of another tenant, as if they did not exist', async () => {
    const [mine, theirs] = [await addTenant(database), await addTenant(database)]
    const action = await addSource(database, { tenant_id: theirs })
    const target = await addTarget(database, { tenant_id: theirs })
    const environment_id = await addEnvironment(database, theirs)
    const problem = await rig.refused(
      { action_id: action.id, target_ids: [target.id], tenant_id: theirs, environment_id },
      { ...ADMIN, tenant_id: mine },
    )
    expect(problem.code).toBe('NOT_FOUND')
    expect(problem.details).toHaveProperty('missing.length', 4)
  })

  test('records that do not fit the tenant and environment, for a caller of no tenant', async () => {
    const [one, two] = [await addTenant(database), await addTenant(database)]
    const action = await addSource(database, { tenant_id: two })
    const foreign = await addTarget(database, { tenant_id: two })
    const environment_id = await addEnvironment(database, two)
    const ours = await addEnvironment(database, one)
    const elsewhere = await addTarget(database, { environment_id: ours })
    const problem = await rig.refused({
      action_id: action.id,
      tenant_id: one,
      environment_id,
      target_ids: [foreign.id, elsewhere.id],
    })
    expect(problem.code).toBe('VALIDATION_ERROR')
    expect(pathsOf(problem).sort()).toEqual(['/action_id', '/environment_id', '/target_ids/0', '/target_ids/1'])
    // Without a tenant, only shared records fit.
    expect(pathsOf(await rig.refused({ action_id: action.id, target_ids: [foreign.id] })).sort()).toEqual([
      '/action_id',
      '/target_ids/0',
    ])
  })

  test('no targets or disabled targets', async () => {
    const action = await addSource(database)
    const disabled = await addTarget(database, { enabled: false })
    const paths = async (request: Request) => pathsOf(await rig.refused({ action_id: action.id, ...request }))
    expect(await paths({ target_tags: [{ key: 'no', value: 'such' }] })).toEqual(['/target_tags'])
    expect(await paths({})).toEqual(['/target_ids'])
    expect(await paths({ target_ids: [disabled.id] })).toEqual(['/target_ids/0'])
  })

  test('an unknown version, with the existing versions and all other problems', async () => {
    const action = await addSource(database, {
      versions: { '1.0.0': { type: 'script', script: 'x' }, '1.2.0': { type: 'script', script: 'x' } },
    })
    const disabled = await addTarget(database, { enabled: false })
    const problem = await rig.refused({
      action_id: action.id,
      version_requirement: '^2.0.0',
      target_ids: [disabled.id],
    })
    expect(pathsOf(problem)).toEqual(['/version_requirement', '/target_ids/0'])
    expect(JSON.stringify(problem.details)).toContain('1.2.0, 1.0.0')
  })

  test('missing, mistyped, unknown or forged sealed values', async () => {
    const action = await addSource(database, {
      versions: {
        '1.0.0': {
          type: 'script',
          script: 'x',
          variables: [
            { name: 'must', required: true },
            { name: 'count', type: 'number' },
          ],
        },
      },
    })
    const target = await addTarget(database)
    const request = { action_id: action.id, target_ids: [target.id] }
    const problem = await rig.refused({ ...request, variables: { count: 'many' }, prompted_values: { nobody: 1 } })
    expect(pathsOf(problem).sort()).toEqual(['/prompted_values/nobody', '/variables/count', '/variables/must'])
    const posing = await rig.refused({ ...request, variables: { must: 'x', evil: { $sealed: 'v1.k.x' } } })
    expect(pathsOf(posing)).toEqual(['/variables/evil'])
    const twice = await rig.refused({ ...request, variables: { must: 'x', region: 1, REGION: 2 } })
    expect(pathsOf(twice)).toEqual(['/variables/REGION'])
  })

  test('an override of freezes by a caller who is no administrator, even without a freeze', async () => {
    const action = await addSource(database)
    const target = await addTarget(database)
    const request = { action_id: action.id, target_ids: [target.id], override_freeze: true, override_reason: 'now' }
    expect((await rig.refused(request, OPERATOR)).code).toBe('INSUFFICIENT_PERMISSIONS')
    expect((await rig.planned(request)).freeze_override).toEqual({ reason: 'now' })
  })
})

describe('rights in scopes', () => {
  test('one binding must cover all environments that the targets bring, for the source', async () => {
    const [staging, production] = [await addEnvironment(database, null), await addEnvironment(database, null)]
    const action = await addSource(database)
    const inStaging = await addTarget(database, { environment_id: staging, tags: [{ key: 'zone', value: 'both' }] })
    const inProduction = await addTarget(database, {
      environment_id: production,
      tags: [{ key: 'zone', value: 'both' }],
    })
    const nowhere = await addTarget(database)
    const { user_id } = await addUser(database, {
      username: uuidv7(),
      permissions: ['deployments:create', 'deployments:read'],
      scope: { environment_ids: [staging], solution_ids: null },
    })
    const mia = { ...OPERATOR, user_id, username: 'mia' }
    const asMia = (request: Request) => rig.refused(request, mia)
    const denied = { code: 'INSUFFICIENT_PERMISSIONS', details: { permission: 'deployments:create' } }
    const about = { action_id: action.id }

    expect(await rig.planned({ ...about, target_ids: [inStaging.id] }, mia)).toMatchObject({ caller: mia })
    expect(await rig.planned({ ...about, target_ids: [nowhere.id], environment_id: staging }, mia)).toBeDefined()
    expect(await asMia({ ...about, target_ids: [inProduction.id] })).toMatchObject({
      ...denied,
      details: { environments: [{ id: production }], source: { type: 'action', id: action.id } },
    })
    expect(await asMia({ ...about, target_ids: [nowhere.id] })).toMatchObject(denied)
    expect(await asMia({ ...about, target_tags: [{ key: 'zone', value: 'both' }] })).toMatchObject(denied)

    await database.query('UPDATE role_bindings SET solution_ids = $2 WHERE user_id = $1', [user_id, [uuidv7()]])
    expect(await asMia({ ...about, target_ids: [inStaging.id] })).toMatchObject(denied)
    await database.query(`UPDATE users SET status = 'suspended' WHERE id = $1`, [user_id])
    expect(await asMia({ ...about, target_ids: [inStaging.id] })).toMatchObject({ code: 'FORBIDDEN' })
  })

  test('the API key of a request limits its user', async () => {
    const [staging, production] = [await addEnvironment(database, null), await addEnvironment(database, null)]
    const action = await addSource(database)
    const target = await addTarget(database, { environment_id: production })
    const key_id = uuidv7()
    await database.query(
      `INSERT INTO api_keys (id, user_id, name, key_prefix, key_hash, environment_ids) VALUES ($1, $2, 'k', '', $3, $4)`,
      [key_id, ADMIN.user_id, key_id, [staging]],
    )
    const request = { action_id: action.id, target_ids: [target.id] }
    expect(await rig.refused(request, { ...ADMIN, key_id })).toMatchObject({ code: 'INSUFFICIENT_PERMISSIONS' })
    await database.query('DELETE FROM api_keys WHERE id = $1', [key_id])
    expect(await rig.refused(request, { ...ADMIN, key_id })).toMatchObject({ code: 'FORBIDDEN' })
    expect(await rig.planned(request)).toBeDefined()
  })
})
