import { describe, expect, test } from '@jest/globals'
import { isSealed } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { addUser } from '@slipway/testing'
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
import { type Rig, testRig } from './rig.ts'

const rig = await testRig()
const { database } = rig

/** Creates a deployment like the services and returns its command. */
async function original(request: Request, failedTargets: number[] = [], caller = ADMIN): Promise<StartCommand> {
  const command = await rig.planned(request, caller)
  await storeDeployment(database, command, failedTargets)
  return command
}

async function repeated(...args: Parameters<Rig['redeploy']>): Promise<StartCommand> {
  const reply = await rig.redeploy(...args)
  const command = rig.started.find((each) => each.command_id === reply.command_id)
  if (!command) throw new Error(`refused: ${JSON.stringify(reply)}`)
  return command
}

async function refusal(...args: Parameters<Rig['redeploy']>) {
  const reply = await rig.redeploy(...args)
  if (reply.ok) throw new Error('accepted')
  return reply.problem
}

describe('redeploy', () => {
  test('carries values only to those who may deploy to the environments of the original', async () => {
    const [staging, production] = [await addEnvironment(database), await addEnvironment(database)]
    const action = await addSource(database)
    const inProduction = await addTarget(database, { environment_id: production })
    const inStaging = await addTarget(database, { environment_id: staging })
    const { user_id } = await addUser(database, {
      username: uuidv7(),
      permissions: ['deployments:create'],
      scope: { environment_ids: [staging], solution_ids: null },
    })
    const mia = { ...OPERATOR, user_id, username: 'mia' }
    const about = { action_id: action.id, target_ids: [inProduction.id] }
    const secret = await original({ ...about, variables: { token: 'of production' } })
    const plain = await original(about)
    const elsewhere = { target_ids: [inStaging.id] }
    expect(await refusal(secret.command_id, elsewhere, mia)).toMatchObject({
      code: 'INSUFFICIENT_PERMISSIONS',
      details: { environments: [{ id: production }] },
    })
    expect(await repeated(plain.command_id, elsewhere, mia)).toMatchObject({ caller: mia })
    expect(await repeated(secret.command_id, elsewhere)).toBeDefined()
  })

  test('seals the values that the original sealed, even if no record marks their names now', async () => {
    const action = await addSource(database)
    const target = await addTarget(database, { variables: { wallet: 'of-target' }, sensitive: ['wallet'] })
    const variables = { wallet: 'given-secret', colour: 'blue' }
    const first = await original({ action_id: action.id, target_ids: [target.id], variables })
    await database.query(`UPDATE targets SET variables_sealed = NULL, sensitive_variables = '{}' WHERE id = $1`, [
      target.id,
    ])
    const { plan } = await repeated(first.command_id)
    expect(plan.sensitive).toEqual(['wallet'])
    expect(plan.override_variables).toEqual({ wallet: { $sealed: expect.any(String) }, colour: 'blue' })
  })

  test('repeats the original with its versions, including nested ones, its settings and values', async () => {
    const action = await addSource(database, {
      versions: {
        '1.0.0': { type: 'script', script: 'x', timeout_seconds: 9, variables: [{ name: 'pass', sensitive: true }] },
      },
    })
    const sequence = await addSource(database, {
      kind: 'sequence',
      versions: { '1.0.0': { actions: [{ action_id: action.id }] } },
    })
    const target = await addTarget(database)
    const first = await original({
      sequence_id: sequence.id,
      target_ids: [target.id],
      priority: 7,
      failure_strategy: 'continue_on_failure',
      deployment_timeout_seconds: 90,
      bypass_cache: true,
      variables: { pass: 'old-secret', keep: 'kept', change: 'old' },
    })
    await database.query(
      `INSERT INTO source_versions VALUES ($1, '2.0.0', '{"type":"script","script":"y"}'), ($2, '2.0.0', $3)`,
      [action.id, sequence.id, JSON.stringify({ actions: [{ action_id: action.id }, { action_id: action.id }] })],
    )

    const again = await repeated(first.command_id, { variables: { change: 'new' }, max_retries: 3 })
    expect(again.source_deployment_id).toBe(first.command_id)
    expect(again.plan.source.version).toBe('1.0.0')
    expect(again.plan.actions.map(({ action_version }) => action_version)).toEqual(['1.0.0'])
    expect(again.plan.actions[0]).toMatchObject({ timeout_seconds: 9, max_retries: 3 })
    expect(again.plan.options).toEqual({ ...first.plan.options, max_retries: 3, bypass_cache: false })
    expect(again.plan.override_variables).toMatchObject({ keep: 'kept', change: 'new' })
    const sealed = again.plan.override_variables['pass']
    expect(isSealed(sealed) && keyRing.openText(sealed.$sealed, `plan:${again.command_id}:pass`)).toBe('"old-secret"')
    expect(again.selection).toEqual(first.selection)
  })

  test('deploys to other targets, or only to targets with failed or skipped steps', async () => {
    const action = await addSource(database)
    const targets = [await addTarget(database), await addTarget(database), await addTarget(database)]
    const ids = targets.map(({ id }) => id)
    const first = await original({ action_id: action.id, target_ids: ids }, [1])
    const targetsOf = ({ plan }: StartCommand) => plan.targets.map(({ id }) => id)
    expect(targetsOf(await repeated(first.command_id))).toEqual(ids)
    expect(targetsOf(await repeated(first.command_id, { only_failed_targets: true }))).toEqual([ids[1]])
    await database.query(`UPDATE steps SET state = 'skipped' WHERE deployment_id = $1 AND target_index = 2`, [
      first.command_id,
    ])
    expect(targetsOf(await repeated(first.command_id, { only_failed_targets: true }))).toEqual([ids[1], ids[2]])
    expect(targetsOf(await repeated(first.command_id, { target_ids: [String(ids[2])] }))).toEqual([ids[2]])

    const both = await refusal(first.command_id, { only_failed_targets: true, target_ids: ids })
    expect(both).toMatchObject({ code: 'VALIDATION_ERROR', details: { errors: [{ path: '/only_failed_targets' }] } })
    const well = await original({ action_id: action.id, target_ids: ids })
    const none = await refusal(well.command_id, { only_failed_targets: true })
    expect(none).toMatchObject({ code: 'VALIDATION_ERROR', details: { errors: [{ path: '/only_failed_targets' }] } })
  })

  test('finds no deployment that the caller does not see', async () => {
    const [mine, theirs] = [await addTenant(database), await addTenant(database)]
    const action = await addSource(database)
    const target = await addTarget(database)
    const request = { action_id: action.id, target_ids: [target.id] }
    const first = await original(request, [], { ...ADMIN, tenant_id: theirs })
    expect(await refusal(first.command_id, {}, { ...ADMIN, tenant_id: mine })).toMatchObject({ code: 'NOT_FOUND' })
    expect(await refusal(uuidv7())).toMatchObject({ code: 'NOT_FOUND' })
    expect((await repeated(first.command_id)).plan.tenant?.id).toBe(theirs)
  })

  test('is a conflict if the source, one of its versions or a target was deleted', async () => {
    const make = async () => {
      const action = await addSource(database)
      const target = await addTarget(database)
      const first = await original({ action_id: action.id, target_ids: [target.id] })
      return { action, target, id: first.command_id }
    }
    const source = await make()
    await database.query('DELETE FROM sources WHERE id = $1', [source.action.id])
    expect(await refusal(source.id)).toMatchObject({ code: 'CONFLICT' })

    const version = await make()
    await database.query('DELETE FROM source_versions WHERE source_id = $1', [version.action.id])
    expect(await refusal(version.id)).toMatchObject({ code: 'CONFLICT' })

    const target = await make()
    await database.query('DELETE FROM targets WHERE id = $1', [target.target.id])
    const problem = await refusal(target.id)
    expect(problem).toMatchObject({ code: 'CONFLICT' })
    expect(problem.message).toContain(target.target.id)
    // An unknown target in the request itself is NOT_FOUND.
    const unknown = uuidv7()
    expect(await refusal(target.id, { target_ids: [unknown] })).toMatchObject({
      code: 'NOT_FOUND',
      details: { missing: [{ path: '/target_ids/0', id: unknown }] },
    })
  })
})
