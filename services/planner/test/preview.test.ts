import { describe, expect, test } from '@jest/globals'
import { type CommandReply, compile, PreviewTable } from '@slipway/contracts'
import { uuidv7 } from '@slipway/runtime'
import { addPending, OTHER_VERSIONS } from '@slipway/testing'
import {
  ADMIN,
  addEnvironment,
  addFreeze,
  addSource,
  addTarget,
  addTenant,
  heartbeat,
  OPERATOR,
  type Request,
  type StartCommand,
  storeDeployment,
} from './fixtures.ts'
import { testRig } from './rig.ts'

const rig = await testRig()
const { database } = rig

describe('a preview', () => {
  test('matches the contract, masks secrets, names freezes and starts nothing', async () => {
    const action = await addSource(database, {
      name: 'ship',
      versions: {
        '1.0.0': { type: 'script', script: 'echo {{ nobody }}', variables: [{ name: 'pass', sensitive: true }] },
      },
    })
    const target = await addTarget(database, { name: 'far', variables: { port: 1 } })
    const freezeId = await addFreeze(database)
    const request = {
      action_id: action.id,
      target_ids: [target.id],
      variables: { pass: 'a-secret', colour: 'blue' },
    }
    const { command_id, ...preview } = await rig.previewed(request)
    expect(compile(PreviewTable)(preview)).toEqual([])
    expect(preview).toMatchObject({
      source_type: 'action',
      source_name: 'ship',
      source_version: '1.0.0',
      variables: { pass: '***', colour: 'blue' },
      plan: { target_count: 1, resolved_variables: { pass: '***', colour: 'blue' }, tenant_name: null },
    })
    expect(preview.plan.targets).toEqual([{ id: target.id, name: 'far' }])
    expect(preview.plan.actions).toMatchObject([{ action_id: action.id, action_name: 'ship', action_order: 0 }])
    expect(preview.warnings.join('\n')).toMatch(new RegExp(`freeze-${freezeId}[^]*far[^]*nobody`))
    expect(rig.started.map((command) => command.command_id)).not.toContain(command_id)
  })
})

test('more secrets than can be masked are refused, in a preview and in a create', async () => {
  const variables = [{ name: 'keys', sensitive: true, type: 'json' as const }]
  const action = await addSource(database, { versions: { '1.0.0': { type: 'script', script: 'true', variables } } })
  const target = await addTarget(database, {})
  const keys = Array.from({ length: 2_001 }, (_, n) => 10_000 + n)
  const request = { action_id: action.id, target_ids: [target.id], variables: { keys } }
  const refusal = { code: 'VALIDATION_ERROR', message: expect.stringContaining('at most 2000 values') }
  expect(await rig.refused(request)).toMatchObject(refusal)
  await rig.previewed({ ...request, variables: { keys: keys.slice(1) } })
})

test('a strict request is refused if it would get warnings of its own, and not for a freeze', async () => {
  const action = await addSource(database, {
    versions: { '1.0.0': { type: 'script', script: 'echo "{{ nobody }}"' } },
  })
  const target = await addTarget(database, { name: 'away', connection: { type: 'ssh', host: 'h', username: 'u' } })
  await database.query(`UPDATE targets SET created_at = now() - interval '11 min' WHERE id = $1`, [target.id])
  await heartbeat(database, 0)
  const request = { action_id: action.id, target_ids: [target.id], variables: { levle: 4 } }
  const refusal = await rig.refused({ ...request, strict: true })
  expect(refusal).toMatchObject({ code: 'VALIDATION_ERROR' })
  expect((refusal.details as { warnings: string[] }).warnings.toSorted()).toEqual([
    expect.stringMatching(/^Action ".+": \{\{ nobody \}\} has no value and is left as it stands$/),
    'Target "away" is offline: its steps will fail',
    'Variable "levle" is given and not used: no definition, script or template names it',
  ])
  const { command_id, warnings } = await rig.planned(request)
  expect(warnings).toEqual(expect.arrayContaining((refusal.details as { warnings: string[] }).warnings))
  await storeDeployment(database, rig.started.find((each) => each.command_id === command_id) as StartCommand)
  expect(await rig.redeploy(command_id, { strict: true })).toMatchObject({
    ok: false,
    problem: { code: 'VALIDATION_ERROR', details: { warnings: expect.any(Array) } },
  })

  await addFreeze(database)
  const sound = await addSource(database)
  const override = { override_freeze: true, override_reason: 'a test', strict: true }
  const here = await addTarget(database)
  const frozen = await rig.planned({ action_id: sound.id, target_ids: [here.id], ...override })
  expect(frozen.freeze_override).toEqual({ reason: 'a test' })
})

test('a new ssh target counts as reachable until its first probe, an agent target that never enrolled does not', async () => {
  const action = await addSource(database)
  const warned = async (targetId: string) => {
    const { warnings, target_summary } = await rig.previewed({ action_id: action.id, target_ids: [targetId] })
    expect(target_summary).toMatchObject({ offline: 1 })
    return warnings.filter((warning) => warning.endsWith('is offline: its steps will fail')).length === 1
  }
  const connection = { type: 'ssh', host: 'h', username: 'u' }
  const { id } = await addTarget(database, { connection })
  expect(await warned(id)).toBe(false)
  await rig.planned({ action_id: action.id, target_ids: [id], strict: true })
  await database.query('INSERT INTO target_facts (target_id, failing_since) VALUES ($1, now())', [id])
  expect(await warned(id)).toBe(true)
  expect(await warned((await addTarget(database, { connection: { type: 'agent' } })).id)).toBe(true)
})

describe('a preview tells what keeps the deployment from starting', () => {
  const codesOf = ({ blockers }: CommandReply<'plan.preview'>) => blockers.map(({ code }) => code)

  test('with the warnings that explain it, until a slot is free', async () => {
    const request = { action_id: (await addSource(database)).id, target_ids: [(await addTarget(database)).id] }
    const without = await rig.previewed(request)
    expect(without).toMatchObject({ blockers: [{ code: 'no_compatible_instance' }], earliest_start: null })
    await heartbeat(database, 0)
    await database.query(`UPDATE instances SET version = '${OTHER_VERSIONS.patch}'`)
    await database.query('INSERT INTO instance_slots (instance_id, slot) SELECT id, 0 FROM instances')
    await database.query('INSERT INTO leases (instance_id, slot, deployment_id) SELECT id, 0, $1 FROM instances', [
      uuidv7(),
    ])
    const full = await rig.previewed(request)
    expect(codesOf(full)).toEqual(['capacity'])
    for (const { blockers, warnings } of [without, full])
      expect(warnings).toEqual(expect.arrayContaining(blockers.map(({ message }) => message)))
    await database.query('DELETE FROM leases')
    const free = await rig.previewed(request)
    expect(free).toMatchObject({ blockers: [], earliest_start: free.plan.created_at, warnings: [] })
  })

  test('how many targets are in which environment, and how many requests are ahead of it', async () => {
    const [staging, production] = [await addEnvironment(database), await addEnvironment(database)]
    const places = [staging, production, production, null]
    const target_ids: string[] = []
    for (const environment_id of places) target_ids.push((await addTarget(database, { environment_id })).id)
    const request = { action_id: (await addSource(database)).id, target_ids }
    await heartbeat(database, 0)
    await database.query('UPDATE instances SET capacity = 0')
    await addPending(database)
    await addPending(database, { priority: -50 })
    const { target_summary, queue } = await rig.previewed(request)
    expect(target_summary.environments.map(({ id, count }) => [id, count])).toEqual([
      [production, 2],
      ...[staging, null].map((id) => [id, 1]).sort(),
    ])
    expect(queue).toEqual({ ahead: 1 })
    await database.query('DELETE FROM pending_requests')
  })

  test('also a hold of a target, and what its policy does', async () => {
    await heartbeat(database, 0)
    await database.query('UPDATE instances SET capacity = 2')
    await database.query(
      'INSERT INTO instance_slots (instance_id, slot) SELECT id, generate_series(0, 1) FROM instances',
    )
    const request = { action_id: (await addSource(database)).id, target_ids: [(await addTarget(database)).id] }
    const { rows } = await database.query<{ deployment_id: string }>(
      `WITH lease AS (
         INSERT INTO leases (instance_id, slot, deployment_id) SELECT id, 0, gen_random_uuid() FROM instances
         RETURNING epoch, deployment_id
       )
       INSERT INTO target_locks (target_id, deployment_id, epoch) SELECT $1, deployment_id, epoch FROM lease
       RETURNING deployment_id`,
      [request.target_ids[0]],
    )
    const holder = rows[0]?.deployment_id ?? ''
    const previewWith = async (policy: string) => {
      await database.query('UPDATE targets SET concurrency = $2::target_concurrency WHERE id = $1', [
        request.target_ids[0],
        policy,
      ])
      const preview = await rig.previewed(request)
      return { codes: codesOf(preview), warnings: preview.warnings.join() }
    }
    expect(await previewWith('allow')).toEqual({ codes: [], warnings: '' })
    const waits = await previewWith('queue')
    expect(waits).toMatchObject({
      codes: ['target_lock'],
      warnings: expect.stringContaining(`held by deployment ${holder}`),
    })
    const refused = await previewWith('reject')
    expect(refused).toMatchObject({
      codes: ['target_lock'],
      warnings: expect.stringMatching(/: the deployment would be refused$/),
    })
    await database.query('DELETE FROM target_locks')
  })

  test('also freezes, by the tenant, the environment, the solution and the targets of the plan, and by the caller', async () => {
    const [tenant_id, environment_id] = [await addTenant(database), await addEnvironment(database)]
    const action = await addSource(database)
    const sequence = await addSource(database, {
      kind: 'sequence',
      versions: { '1.0.0': { actions: [{ action_id: action.id }] } },
    })
    const solution = await addSource(database, {
      kind: 'solution',
      versions: { '1.0.0': { sequences: [{ sequence_id: sequence.id }] } },
    })
    const [target, frozen] = [await addTarget(database), await addTarget(database, { environment_id })]
    const on = { target_ids: [target.id] }
    const request = { ...on, action_id: action.id }
    const freezesOf = async (of: Request, caller = ADMIN) => {
      const { blockers } = await rig.previewed(of, caller)
      return blockers.flatMap(({ code, can_override, details }) =>
        code === 'freeze' ? [{ can_override, ids: details.freezes?.map(({ id }) => id) }] : [],
      )
    }
    const ofEnvironment = await addFreeze(database, { environment_id })
    expect(await freezesOf(request)).toEqual([])
    expect(await freezesOf({ ...request, environment_id })).toEqual([{ can_override: true, ids: [ofEnvironment] }])
    const through = await rig.previewed({ ...request, target_ids: [target.id, frozen.id] })
    expect(through.blockers[0]?.details.freezes).toMatchObject([{ id: ofEnvironment, target_ids: [frozen.id] }])
    expect(through.warnings[0]).toMatch(
      /^Freeze "freeze-[0-9a-f-]+" \(by 1 of its targets\) blocks this deployment until /,
    )

    const ofSolution = await addFreeze(database, { solution_id: solution.id })
    expect(await freezesOf({ ...on, sequence_id: sequence.id })).toEqual([])
    expect(await freezesOf({ ...on, solution_id: solution.id })).toMatchObject([{ ids: [ofSolution] }])

    const tenantAdmin = { ...ADMIN, tenant_id }
    const ofTenant = await addFreeze(database, { tenant_id })
    expect(await freezesOf(request, tenantAdmin)).toEqual([{ can_override: true, ids: [ofTenant] }])
    expect(await freezesOf(request, { ...OPERATOR, tenant_id })).toEqual([{ can_override: false, ids: [ofTenant] }])
    const overriding = { ...request, override_freeze: true, override_reason: 'must' }
    const overridden = await rig.previewed(overriding, tenantAdmin)
    expect(codesOf(overridden)).not.toContain('freeze')
    expect(overridden.warnings[0]).toMatch(/ is overridden and stays in force until \d{4}-\d\d-\d\dT[0-9:.]+Z$/)
    // The dispatcher decides about a create: it gets the override, and the warning of the preview.
    expect(await rig.planned(overriding, tenantAdmin)).toMatchObject({
      freeze_override: { reason: 'must' },
      warnings: overridden.warnings.filter((warning) => !warning.startsWith('No orchestration instance')),
    })
    await rig.planned(request, tenantAdmin)
  })
})

test('targets are listed once, in the order of the request, then by tag', async () => {
  const action = await addSource(database)
  const web = { key: 'role', value: `web-${action.id}` }
  const [first, second, tagged] = [
    await addTarget(database, { name: 'first' }),
    await addTarget(database, { name: 'second' }),
    await addTarget(database, { name: 'tagged', tags: [web] }),
  ]
  const names = new Map([first, second, tagged].map(({ id }, index) => [id, ['first', 'second', 'tagged'][index]]))
  const targetsOf = async (target_ids: string[], target_tags: (typeof web)[] = []) => {
    const preview = await rig.previewed({ action_id: action.id, target_ids, target_tags })
    const { command_id: _, ...told } = preview
    expect(compile(PreviewTable)(told)).toEqual([])
    return told.plan.targets
  }
  const named = (...targets: { id: string }[]) => targets.map(({ id }) => ({ id, name: names.get(id) }))
  expect(await targetsOf([second.id, first.id])).toEqual(named(second, first))
  expect(await targetsOf([first.id.toUpperCase(), second.id])).toEqual(named(first, second))
  expect(await targetsOf([first.id, second.id, first.id])).toEqual(named(first, second))
  expect(await targetsOf([first.id], [web])).toEqual(named(first, tagged))
})

test('a plan that exceeds the size of a message is refused, but can be previewed', async () => {
  const action = await addSource(database)
  const notes = 'n'.repeat(100_000)
  const target_ids: string[] = []
  for (let n = 0; n < 160; n += 1) target_ids.push((await addTarget(database, { variables: { notes } })).id)
  const request = { action_id: action.id, target_ids }
  const reply = await rig.ask('plan.create', request)
  expect(reply).toMatchObject({ ok: false, problem: { code: 'PAYLOAD_TOO_LARGE' } })
  const { target_count, targets } = (await rig.previewed(request)).plan
  expect([target_count, targets.map(({ id }) => id)]).toEqual([target_ids.length, target_ids])
})
