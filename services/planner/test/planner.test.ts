import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { compile, PreviewTable, validateBody } from '@slipway/contracts'
import type { Database } from '@slipway/database'
import { encodeSqid, isSealed } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { type OpenTestDatabase, openTestDatabase } from '@slipway/testing'
import {
  ADMIN,
  addEnvironment,
  addFreeze,
  addSource,
  addTarget,
  addTenant,
  createRig,
  heartbeat,
  keyRing,
  OPERATOR,
  type Request,
  type Rig,
  type StartCommand,
} from './fixtures.ts'

let server: OpenTestDatabase
let database: Database
let rig: Rig

beforeAll(async () => {
  server = await openTestDatabase()
  database = server.database
  rig = await createRig(database)
})
afterAll(async () => {
  await rig.stop()
  await server.drop()
})
beforeEach(async () => {
  await database.query('DELETE FROM freezes')
  await database.query('DELETE FROM instances')
})

/** The command that the dispatcher got for a request that must be accepted. */
async function planned(request: Request, caller = ADMIN): Promise<StartCommand> {
  const reply = await rig.ask('plan.create', request, caller)
  const command = rig.started.find(({ command_id }) => command_id === reply.command_id)
  if (!command) throw new Error(`refused: ${JSON.stringify(reply)}`)
  return command
}

/** The refusal of a request that must not be accepted, by create and preview alike. */
async function refused(request: Request, caller = ADMIN) {
  const reply = await rig.ask('plan.create', request, caller)
  if (reply.ok) throw new Error('accepted')
  const preview = await rig.ask('plan.preview', request, caller)
  expect(preview.ok ? 'accepted' : preview.problem).toEqual(reply.problem)
  expect(rig.started.map(({ command_id }) => command_id)).not.toContain(reply.command_id)
  return reply.problem
}

const pathsOf = (problem: { details?: Record<string, unknown> }) =>
  (problem.details as { errors: { path: string }[] }).errors.map(({ path }) => path)

async function previewed(request: Request) {
  const reply = await rig.ask('plan.preview', request)
  if (!reply.ok) throw new Error(JSON.stringify(reply.problem))
  return { ...reply.result, command_id: reply.command_id }
}

describe('a preview warns', () => {
  test('that a deployment would be queued, and why', async () => {
    const request = { action_id: (await addSource(database)).id, target_ids: [(await addTarget(database)).id] }
    const capacity = async () => {
      const { warnings } = await previewed(request)
      return warnings.filter((warning) => /instance|come first/.test(warning))
    }
    await database.query('DELETE FROM pending_requests')
    expect(await capacity()).toEqual([
      'No compatible orchestration instance is online: the deployment would be queued until one is',
    ])
    await heartbeat(database, 0)
    await database.query(`UPDATE instances SET version = '9.9.0'`)
    expect(await capacity()).toHaveLength(1)
    await database.query(`UPDATE instances SET version = '0.1.7'`)
    expect(await capacity()).toEqual(['No orchestration instance is free: the deployment would be queued'])
    await database.query('INSERT INTO instance_slots (instance_id, slot) SELECT id, 0 FROM instances')
    expect(await capacity()).toEqual([])
    await database.query(
      `INSERT INTO pending_requests (id, priority, triggered_by, command) VALUES ($1, 0, 'olga', '{}')`,
      [uuidv7()],
    )
    expect(await capacity()).toEqual(['Other requests wait that come first: the deployment may be queued'])
    await database.query('DELETE FROM pending_requests')
    await database.query('DELETE FROM instance_slots')
  })

  test('of freezes until their end, and tells those that it would override', async () => {
    const request = { action_id: (await addSource(database)).id, target_ids: [(await addTarget(database)).id] }
    const id = await addFreeze(database)
    const ofFreezes = ({ warnings }: { warnings: string[] }) => warnings.filter((warning) => warning.includes(id))
    expect(ofFreezes(await previewed(request))).toEqual([
      expect.stringMatching(/^Freeze "freeze-[0-9a-f-]+" blocks this deployment until \d{4}-\d\d-\d\dT[0-9:.]+Z$/),
    ])
    const overriding = { ...request, override_freeze: true, override_reason: 'must' }
    expect(ofFreezes(await previewed(overriding))).toEqual([expect.stringContaining('would be overridden')])
  })
})

describe('a plan', () => {
  test('of a solution holds every action in order, in the versions that satisfy', async () => {
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
    const command = await planned({
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

  test('merges the layers and seals every sensitive value for its command, wherever it stands', async () => {
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
    const { command_id, plan } = await planned({
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

  test('opens the values that entries of definitions were given', async () => {
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
    const { command_id, plan } = await planned({ solution_id: solution.id, target_ids: [target.id] })
    expect(JSON.stringify(plan)).not.toContain('entry-secret')
    const { pin, region } = plan.actions[0]?.variables ?? {}
    expect(isSealed(pin) && JSON.parse(keyRing.openText(pin.$sealed, `plan:${command_id}:pin`))).toBe('entry-secret')
    expect(region).toBe('us')
    expect(plan.actions[1]?.variables).toEqual({ region: 'us' })
  })

  test('seals a name that only another source declares sensitive, from the moment that is published', async () => {
    const action = await addSource(database)
    const target = await addTarget(database, { variables: { wallet: 'shared-secret' } })
    const request = { action_id: action.id, target_ids: [target.id] }
    expect(JSON.stringify((await planned(request)).plan)).toContain('shared-secret')
    await addSource(database, {
      versions: { '1.0.0': { type: 'script', script: 'x', variables: [{ name: 'wallet', sensitive: true }] } },
    })
    const { plan } = await planned(request)
    expect(JSON.stringify(plan)).not.toContain('shared-secret')
    expect(plan.sensitive).toEqual(['wallet'])
  })

  test('of a caller that is bound to a tenant is of that tenant', async () => {
    const tenant_id = await addTenant(database)
    const action = await addSource(database)
    const target = await addTarget(database, { tenant_id })
    const { plan } = await planned({ action_id: action.id, target_ids: [target.id] }, { ...ADMIN, tenant_id })
    expect(plan.tenant?.id).toBe(tenant_id)
  })
})

describe('targets', () => {
  test('by tag are those of the environment or of none, without disabled ones, after those by id, by name', async () => {
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
      (await planned({ action_id: action.id, environment_id, ...request })).plan.targets.map(({ id }) => id)
    expect(await ids({ target_ids: [named.id], target_tags: [role] })).toEqual([named.id, a.id, b.id])
    expect(await ids({ target_tags: [role, zone], target_tags_match_all: true })).toEqual([b.id])
  })

  test('are online, stale or offline by what was seen of them, or of the instances for local ones', async () => {
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
    const summary = async () => (await previewed({ action_id: action.id, target_ids })).target_summary
    expect(await summary()).toEqual({ total: 6, online: 1, stale: 1, offline: 4 })
    await heartbeat(database, 10)
    expect(await summary()).toEqual({ total: 6, online: 3, stale: 1, offline: 2 })
    await heartbeat(database, 40)
    expect(await summary()).toEqual({ total: 6, online: 1, stale: 3, offline: 2 })
  })
})

describe('a preview', () => {
  test('has the shape of the contract, hides secrets, names freezes and starts nothing', async () => {
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
    const { command_id, ...preview } = await previewed(request)
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

    const dry = await rig.ask('plan.create', { ...request, dry_run: true })
    expect(dry.ok && dry.result.warnings).toEqual(preview.warnings)
    expect(rig.started.map((command) => command.command_id)).not.toContain(dry.command_id)
  })
})

test('a plan that is more than a message may hold is refused, and can still be previewed', async () => {
  const action = await addSource(database)
  const notes = 'n'.repeat(100_000)
  const target_ids: string[] = []
  for (let n = 0; n < 160; n += 1) target_ids.push((await addTarget(database, { variables: { notes } })).id)
  const request = { action_id: action.id, target_ids }
  const reply = await rig.ask('plan.create', request)
  expect(reply).toMatchObject({ ok: false, problem: { code: 'PAYLOAD_TOO_LARGE' } })
  expect((await previewed(request)).plan.targets.map(({ id }) => id)).toEqual(target_ids)
})

describe('is refused', () => {
  test('what is not there, all of it at once', async () => {
    const [action_id, targetId, tenant_id, environment_id] = [uuidv7(), uuidv7(), uuidv7(), uuidv7()]
    const known = await addTarget(database)
    const sqid = encodeSqid('target', 2_000_000_000)
    const problem = await refused({ action_id, tenant_id, environment_id, target_ids: [known.id, targetId, sqid] })
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
  })

  test('another tenant’s record, as if it were not there', async () => {
    const [mine, theirs] = [await addTenant(database), await addTenant(database)]
    const action = await addSource(database, { tenant_id: theirs })
    const target = await addTarget(database, { tenant_id: theirs })
    const environment_id = await addEnvironment(database, theirs)
    const problem = await refused(
      { action_id: action.id, target_ids: [target.id], tenant_id: theirs, environment_id },
      { ...ADMIN, tenant_id: mine },
    )
    expect(problem.code).toBe('NOT_FOUND')
    expect(problem.details).toHaveProperty('missing.length', 4)
  })

  test('what does not fit the tenant and environment, for one who sees all', async () => {
    const [one, two] = [await addTenant(database), await addTenant(database)]
    const action = await addSource(database, { tenant_id: two })
    const foreign = await addTarget(database, { tenant_id: two })
    const environment_id = await addEnvironment(database, two)
    const ours = await addEnvironment(database, one)
    const elsewhere = await addTarget(database, { environment_id: ours })
    const problem = await refused({
      action_id: action.id,
      tenant_id: one,
      environment_id,
      target_ids: [foreign.id, elsewhere.id],
    })
    expect(problem.code).toBe('VALIDATION_ERROR')
    expect(pathsOf(problem).sort()).toEqual(['/action_id', '/environment_id', '/target_ids/0', '/target_ids/1'])
    // Without a tenant only shared records fit.
    expect(pathsOf(await refused({ action_id: action.id, target_ids: [foreign.id] })).sort()).toEqual([
      '/action_id',
      '/target_ids/0',
    ])
  })

  test('a selection of nothing, or of what is disabled', async () => {
    const action = await addSource(database)
    const disabled = await addTarget(database, { enabled: false })
    const paths = async (request: Request) => pathsOf(await refused({ action_id: action.id, ...request }))
    expect(await paths({ target_tags: [{ key: 'no', value: 'such' }] })).toEqual(['/target_tags'])
    expect(await paths({})).toEqual(['/target_ids'])
    expect(await paths({ target_ids: [disabled.id] })).toEqual(['/target_ids/0'])
  })

  test('a version that does not exist, naming those that do, together with what else is wrong', async () => {
    const action = await addSource(database, {
      versions: { '1.0.0': { type: 'script', script: 'x' }, '1.2.0': { type: 'script', script: 'x' } },
    })
    const disabled = await addTarget(database, { enabled: false })
    const problem = await refused({ action_id: action.id, version_requirement: '^2.0.0', target_ids: [disabled.id] })
    expect(pathsOf(problem)).toEqual(['/version_requirement', '/target_ids/0'])
    expect(JSON.stringify(problem.details)).toContain('1.2.0, 1.0.0')
  })

  test('values that are missing, of the wrong type, unknown, or that pose as sealed', async () => {
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
    const problem = await refused({ ...request, variables: { count: 'many' }, prompted_values: { nobody: 1 } })
    expect(pathsOf(problem).sort()).toEqual(['/prompted_values/nobody', '/variables/count', '/variables/must'])
    const posing = await refused({ ...request, variables: { must: 'x', evil: { $sealed: 'v1.k.x' } } })
    expect(pathsOf(posing)).toEqual(['/variables/evil'])
  })

  test('an override of freezes by one who is no admin, even where nothing is frozen', async () => {
    const action = await addSource(database)
    const target = await addTarget(database)
    const request = { action_id: action.id, target_ids: [target.id], override_freeze: true, override_reason: 'now' }
    expect((await refused(request, OPERATOR)).code).toBe('INSUFFICIENT_PERMISSIONS')
    expect((await planned(request)).freeze_override).toEqual({ reason: 'now' })
  })

  test('what a freeze blocks, unless overridden by one who may', async () => {
    const tenant_id = await addTenant(database)
    const action = await addSource(database)
    const target = await addTarget(database)
    const request = { action_id: action.id, target_ids: [target.id] }
    const create = async (more: Request, caller: StartCommand['caller']) => {
      const reply = await rig.ask('plan.create', { ...request, ...more }, caller)
      return reply.ok ? 'started' : reply.problem
    }
    const override = { override_freeze: true, override_reason: 'hot fix' }
    const tenantAdmin = { ...ADMIN, tenant_id }

    const own = await addFreeze(database, { tenant_id })
    expect(await create({}, ADMIN)).toBe('started')
    expect(await create({}, tenantAdmin)).toMatchObject({
      code: 'DEPLOYMENT_FROZEN',
      details: { active_freezes: [{ id: own, name: `freeze-${own}` }], can_override: true },
    })
    expect(await create(override, tenantAdmin)).toBe('started')

    await addFreeze(database)
    expect(await create({}, OPERATOR)).toMatchObject({ code: 'DEPLOYMENT_FROZEN', details: { can_override: false } })
    expect(await create(override, tenantAdmin)).toMatchObject({
      code: 'DEPLOYMENT_FROZEN',
      details: { can_override: false },
    })
    expect(await create(override, ADMIN)).toBe('started')
  })

  test('a freeze of a solution leaves other sources alone', async () => {
    const action = await addSource(database)
    const sequence = await addSource(database, {
      kind: 'sequence',
      versions: { '1.0.0': { actions: [{ action_id: action.id }] } },
    })
    const solution = await addSource(database, {
      kind: 'solution',
      versions: { '1.0.0': { sequences: [{ sequence_id: sequence.id }] } },
    })
    const target = await addTarget(database)
    await addFreeze(database, { solution_id: solution.id })
    await planned({ sequence_id: sequence.id, target_ids: [target.id] })
    const reply = await rig.ask('plan.create', { solution_id: solution.id, target_ids: [target.id] })
    expect(reply.ok ? 'started' : reply.problem.code).toBe('DEPLOYMENT_FROZEN')
  })

  test('one that recurs, in its windows', async () => {
    const action = await addSource(database)
    const target = await addTarget(database)
    const request = { action_id: action.id, target_ids: [target.id] }
    await addFreeze(database, { days_ago: 21 })
    await addFreeze(database, { days_ago: 22, recurrence: 'FREQ=WEEKLY' })
    await planned(request)
    const id = await addFreeze(database, { days_ago: 21, recurrence: 'FREQ=WEEKLY' })
    const reply = await rig.ask('plan.create', request)
    const { code, details } = (reply.ok ? {} : reply.problem) as { code?: string; details?: unknown }
    expect({ code, details }).toMatchObject({ code: 'DEPLOYMENT_FROZEN', details: { active_freezes: [{ id }] } })
    const [{ ends_at }] = (details as { active_freezes: [{ ends_at: string }] }).active_freezes
    expect(Date.parse(ends_at)).toBeGreaterThan(Date.now())
    expect(Date.parse(ends_at)).toBeLessThanOrEqual(Date.now() + 3_600_000)
  })
})
