import { describe, expect, test } from '@jest/globals'
import { encodeSqid } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
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
