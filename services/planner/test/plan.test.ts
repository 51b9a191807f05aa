import { describe, expect, test } from '@jest/globals'
import { validateBody } from '@slipway/contracts'
import { encodeSqid, isSealed } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import {
  ADMIN,
  addEnvironment,
  addSource,
  addTarget,
  addTenant,
  heartbeat,
  keyRing,
  type Request,
  type StartCommand,
  storeDeployment,
} from './fixtures.ts'
import { testRig } from './rig.ts'

const rig = await testRig()
const { database } = rig

describe('a plan', () => {
  test('has every action of a solution in order, in the versions that meet the requirements', async () => {
    const build = await addSource(database, {
      name: 'build',
      versions: {
        '1.0.0': { type: 'script', script: 'a', timeout_seconds: 7 },
        '1.4.0': { type: 'script', script: 'b', rollback: { script: 'c' } },
        '2.0.0-rc.1': { type: 'script', script: 'd' },
      },
    })
    const check = await addSource(database, { name: 'check' })
    const sequence = await addSource(database, {
      kind: 'sequence',
      versions: {
        '1.0.0': { actions: [{ action_id: build.id, version_requirement: '1.0.x' }, { action_id: check.id }] },
      },
    })
    const solution = await addSource(database, {
      kind: 'solution',
      name: 'shop',
      versions: {
        '1.0.0': { sequences: [{ sequence_id: sequence.id }, { sequence_id: sequence.id }] },
        '1.1.0': { sequences: [{ sequence_id: sequence.id }] },
      },
    })
    const target = await addTarget(database)
    const command = await rig.planned({
      solution_id: encodeSqid('solution', solution.number),
      version_requirement: '~1.0.0',
      target_ids: [encodeSqid('target', target.number), target.id],
      max_retries: 2,
    })
    expect(validateBody('deployment.start', command)).toEqual([])
    expect(command.plan.source).toEqual({ type: 'solution', id: solution.id, name: 'shop', version: '1.0.0' })
    expect(
      command.plan.actions.map((action) => [
        action.sequence_order,
        action.action_order,
        action.action_name,
        action.action_version,
        action.timeout_seconds,
        action.max_retries,
      ]),
    ).toEqual([
      [0, 0, 'build', '1.0.0', 7, 2],
      [0, 1, 'check', '1.0.0', 3600, 2],
      [1, 0, 'build', '1.0.0', 7, 2],
      [1, 1, 'check', '1.0.0', 3600, 2],
    ])
    expect(command.plan.targets.map(({ id }) => id)).toEqual([target.id])
    expect(command.selection).toEqual({
      target_ids: [target.id],
      target_tags: [],
      target_tags_match_all: false,
      version_requirement: '~1.0.0',
    })
  })

  test('merges the layers of variables and seals every sensitive value for its command', async () => {
    const tenant_id = await addTenant(database, { region: 'eu', token: 'tenant-secret', own: 't' })
    const environment_id = await addEnvironment(database, tenant_id, { own: 'e' })
    const action = await addSource(database, {
      versions: {
        '1.0.0': {
          type: 'script',
          script: 'x',
          variables: [
            { name: 'token', sensitive: true },
            { name: 'key', sensitive: true },
            { name: 'level', type: 'number', default: 3 },
          ],
        },
      },
      secrets: { '1.0.0': { key: 'default-secret' } },
    })
    const target = await addTarget(database, { variables: { token: 'target-secret', port: 8080 } })
    const { command_id, plan } = await rig.planned({
      action_id: action.id,
      tenant_id,
      environment_id,
      target_ids: [target.id],
      variables: { key: 'given-secret', plain: 'p' },
      prompted_values: { level: 5 },
    })
    const text = JSON.stringify(plan)
    for (const secret of ['tenant-secret', 'target-secret', 'default-secret', 'given-secret'])
      expect(text).not.toContain(secret)
    const opened = (value: unknown, name: string) =>
      isSealed(value) ? JSON.parse(keyRing.openText(value.$sealed, `plan:${command_id}:${name}`)) : 'not sealed'
    expect(plan.sealed_under).toBe(command_id)
    expect(opened(plan.actions[0]?.variables['key'], 'key')).toBe('default-secret')
    expect(opened(plan.shared_variables['token'], 'token')).toBe('tenant-secret')
    expect(opened(plan.targets[0]?.variables['token'], 'token')).toBe('target-secret')
    expect(opened(plan.override_variables['key'], 'key')).toBe('given-secret')
    expect(plan.shared_variables).toMatchObject({ region: 'eu', own: 'e' })
    expect(plan.targets[0]?.variables['port']).toBe(8080)
    expect(plan.override_variables).toMatchObject({ plain: 'p', level: 5 })
    expect(plan.actions[0]?.variables['level']).toBe(3)
  })

  test('has the variables of the environments of its targets, if the request names none', async () => {
    const action = await addSource(database)
    const production = await addEnvironment(database, null, { level: 'p', wallet_key: 'environment-secret' }, [
      'wallet_key',
    ])
    const staging = await addEnvironment(database, null, { level: 's' })
    const targets = [
      await addTarget(database, { environment_id: production }),
      await addTarget(database, { environment_id: staging, variables: { level: 'own' } }),
    ]
    const request = { action_id: action.id, target_ids: targets.map(({ id }) => id) }
    const { command_id, plan } = await rig.planned(request)
    expect(plan.targets.map(({ variables }) => variables['level'])).toEqual(['p', 'own'])
    expect(JSON.stringify(plan)).not.toContain('environment-secret')
    expect(plan.sensitive).toEqual(['wallet_key'])
    expect(plan.shared_variables).toEqual({})

    await storeDeployment(database, rig.started.find((each) => each.command_id === command_id) as StartCommand)
    const again = await rig.redeploy(command_id, { target_ids: [targets[0]?.id ?? ''] })
    const repeated = rig.started.find((each) => each.command_id === again.command_id)
    expect(repeated?.plan.targets.map(({ variables }) => variables['level'])).toEqual(['p'])

    const preview = await rig.previewed(request)
    expect(preview.variables).toEqual({})
    expect(preview.warnings).toContainEqual(expect.stringMatching(/^The targets lie in 2 environments \(1 in "/))
    expect(JSON.stringify(preview)).not.toContain('environment-secret')
    const named = await rig.previewed({ ...request, target_ids: [targets[0]?.id ?? ''], environment_id: production })
    expect(named.variables).toEqual({ level: 'p', wallet_key: '***' })
  })

  test('opens the values of entries in definitions', async () => {
    const action = await addSource(database, {
      versions: { '1.0.0': { type: 'script', script: 'x', variables: [{ name: 'pin', sensitive: true }] } },
    })
    const entry = { action_id: action.id, variables: {} }
    const sequence = await addSource(database, {
      kind: 'sequence',
      versions: { '1.0.0': { actions: [entry, { action_id: action.id }] } },
      secrets: { '1.0.0': { $entries: [{ pin: 'entry-secret', region: 'eu' }, {}] } },
    })
    const solution = await addSource(database, {
      kind: 'solution',
      versions: { '1.0.0': { sequences: [{ sequence_id: sequence.id, variables: {} }] } },
      secrets: { '1.0.0': { $entries: [{ region: 'us' }] } },
    })
    const target = await addTarget(database)
    const { command_id, plan } = await rig.planned({ solution_id: solution.id, target_ids: [target.id] })
    expect(JSON.stringify(plan)).not.toContain('entry-secret')
    const { pin, region } = plan.actions[0]?.variables ?? {}
    expect(isSealed(pin) && JSON.parse(keyRing.openText(pin.$sealed, `plan:${command_id}:pin`))).toBe('entry-secret')
    expect(region).toBe('us')
    expect(plan.actions[1]?.variables).toEqual({ region: 'us' })
  })

  test('seals names that the tenant, environment or a target marks, even if no source declares them', async () => {
    const tenant_id = await addTenant(database, { of_tenant: 'tenant-secret', region: 'eu' }, ['of_tenant'])
    const environment_id = await addEnvironment(database, tenant_id, { of_env: 'environment-secret' }, ['of_env'])
    const action = await addSource(database)
    const targets = [
      // The last name has no value. The migration marks such names too.
      await addTarget(database, {
        variables: { of_target: 'target-secret', port: 8080 },
        sensitive: ['of_target', 'region'],
      }),
      await addTarget(database, { variables: { of_target: 'not marked, but of a marked name' } }),
    ]
    const request = {
      action_id: action.id,
      tenant_id,
      environment_id,
      target_ids: targets.map(({ id }) => id),
      variables: { of_env: 'given-secret' },
    }
    const { plan } = await rig.planned(request)
    expect(JSON.stringify(plan)).not.toMatch(/-secret|marked/)
    expect(plan.sensitive.toSorted()).toEqual(['of_env', 'of_target', 'of_tenant'])
    expect(plan.shared_variables['region']).toBe('eu')
    expect(plan.targets[0]?.variables['port']).toBe(8080)
    const preview = await rig.previewed(request)
    expect(preview.plan.resolved_variables).toMatchObject({ of_tenant: '***', of_env: '***', region: 'eu' })
    expect(JSON.stringify(preview)).not.toMatch(/-secret/)
  })

  test('seals a name as soon as any source declares it sensitive', async () => {
    const action = await addSource(database)
    const target = await addTarget(database, { variables: { wallet: 'shared-secret' } })
    const request = { action_id: action.id, target_ids: [target.id] }
    expect(JSON.stringify((await rig.planned(request)).plan)).toContain('shared-secret')
    await addSource(database, {
      versions: { '1.0.0': { type: 'script', script: 'x', variables: [{ name: 'wallet', sensitive: true }] } },
    })
    const { plan } = await rig.planned(request)
    expect(JSON.stringify(plan)).not.toContain('shared-secret')
    expect(plan.sensitive).toEqual(['wallet'])
  })

  test('belongs to the tenant of its caller', async () => {
    const tenant_id = await addTenant(database)
    const action = await addSource(database)
    const target = await addTarget(database, { tenant_id })
    const { plan } = await rig.planned({ action_id: action.id, target_ids: [target.id] }, { ...ADMIN, tenant_id })
    expect(plan.tenant?.id).toBe(tenant_id)
  })
})

describe('versions_of', () => {
  const script = { type: 'script', script: 'true' }

  async function publishedAgain() {
    const action = await addSource(database, { versions: { '1.0.0': script } })
    const entries = { actions: [{ action_id: action.id }] }
    const sequence = await addSource(database, { kind: 'sequence', versions: { '1.0.0': entries } })
    const target = await addTarget(database)
    const request = { sequence_id: sequence.id, target_ids: [target.id] }
    const { command_id } = await rig.planned({ ...request, variables: { colour: 'blue' } })
    await storeDeployment(database, rig.started.find((each) => each.command_id === command_id) as StartCommand)
    for (const [id, definition] of [[action.id, script] as const, [sequence.id, entries] as const]) {
      await database.query(
        `INSERT INTO source_versions (source_id, version, definition, templates) VALUES ($1, '1.1.0', $2, '{"script": {"places": [], "refused": [], "documents": []}}')`,
        [id, JSON.stringify(definition)],
      )
    }
    return { action, request, deployment: command_id }
  }
  const versionsIn = ({ plan }: StartCommand) => [
    plan.source.version,
    ...plan.actions.map(({ action_version }) => action_version),
  ]

  test('pins the source and its parts, and nothing else', async () => {
    const { request, deployment } = await publishedAgain()
    expect(versionsIn(await rig.planned(request))).toEqual(['1.1.0', '1.1.0'])
    const pinned = await rig.planned({ ...request, versions_of: deployment })
    expect(versionsIn(pinned)).toEqual(['1.0.0', '1.0.0'])
    expect(pinned.plan.override_variables).toEqual({})
    const preview = await rig.previewed({ ...request, versions_of: deployment })
    expect(preview.plan.versions?.map(({ kind, version }) => [kind, version])).toEqual([
      ['sequence', '1.0.0'],
      ['action', '1.0.0'],
    ])
    expect(preview.plan.actions).toMatchObject([{ sequence_version: '1.0.0', action_version: '1.0.0' }])
  })

  test('refuses a deployment that is unknown, of another tenant or of another source', async () => {
    const { action, request, deployment } = await publishedAgain()
    const unknown = uuidv7()
    expect(await rig.refused({ ...request, versions_of: unknown })).toMatchObject({
      code: 'NOT_FOUND',
      details: { missing: [{ path: '/versions_of', id: unknown }] },
    })
    const tenant_id = await addTenant(database)
    expect(await rig.refused({ ...request, versions_of: deployment }, { ...ADMIN, tenant_id })).toMatchObject({
      code: 'NOT_FOUND',
    })
    const other = { action_id: action.id, target_ids: request.target_ids, versions_of: deployment }
    expect(await rig.refused(other)).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { errors: [{ path: '/versions_of' }] },
    })
  })
})

describe('targets', () => {
  test('selected by tag are enabled ones of the environment or of none, by name, after those by id', async () => {
    const action = await addSource(database)
    const environment_id = await addEnvironment(database)
    const other = await addEnvironment(database)
    const role = { key: 'role', value: uuidv7() }
    const zone = { key: 'zone', value: 'a' }
    const named = await addTarget(database, { name: 'z-named', tags: [role] })
    const b = await addTarget(database, { name: 'b', tags: [role, zone], environment_id })
    const a = await addTarget(database, { name: 'a', tags: [role] })
    await addTarget(database, { name: 'c', tags: [role], enabled: false })
    await addTarget(database, { name: 'd', tags: [role], environment_id: other })
    const ids = async (request: Request) =>
      (await rig.planned({ action_id: action.id, environment_id, ...request })).plan.targets.map(({ id }) => id)
    expect(await ids({ target_ids: [named.id], target_tags: [role] })).toEqual([named.id, a.id, b.id])
    expect(await ids({ target_tags: [role, zone], target_tags_match_all: true })).toEqual([b.id])
  })

  test('are online, stale or offline by their last contact, or by the instances for local targets', async () => {
    const action = await addSource(database)
    const local = await addTarget(database)
    const simulated = await addTarget(database, { connection: { type: 'simulated' } })
    const ssh = { connection: { type: 'ssh', host: 'h', username: 'u' } }
    const [online, stale, offline, never] = [
      await addTarget(database, ssh),
      await addTarget(database, ssh),
      await addTarget(database, ssh),
      await addTarget(database, ssh),
    ]
    for (const [target, age] of [
      [online, 60],
      [stale, 120],
      [offline, 601],
    ] as const) {
      await database.query(
        'INSERT INTO target_facts (target_id, last_seen_at) VALUES ($1, now() - make_interval(secs => $2))',
        [target.id, age],
      )
    }
    const target_ids = [local, simulated, online, stale, offline, never].map(({ id }) => id)
    const summary = async () => {
      const { target_summary } = await rig.previewed({ action_id: action.id, target_ids })
      const { environments: _, ...byStatus } = target_summary
      return byStatus
    }
    expect(await summary()).toEqual({ total: 6, online: 1, stale: 1, offline: 4 })
    await heartbeat(database, 10)
    expect(await summary()).toEqual({ total: 6, online: 3, stale: 1, offline: 2 })
    await heartbeat(database, 40)
    expect(await summary()).toEqual({ total: 6, online: 1, stale: 3, offline: 2 })
  })
})
