import { describe, expect, test } from '@jest/globals'
import { compile, PreviewTable } from '@slipway/contracts'
import { KeyRing } from '@slipway/runtime'
import { checkPlanHash, planHash } from '../src/planning/plan-hash.ts'
import { addEnvironment, addSource, addTarget, keyRing, type Request, storeDeployment } from './fixtures.ts'
import { testRig } from './rig.ts'

const rig = await testRig()
const { database } = rig

async function hashOf(request: Request): Promise<string> {
  const { command_id: _, ...preview } = await rig.previewed(request)
  expect(compile(PreviewTable)(preview)).toEqual([])
  return preview.plan_hash
}

/** The parts of the plan that differ from the hash, or null if the request was accepted. */
async function differing(request: Request, expected_plan_hash: string): Promise<string[] | null> {
  const reply = await rig.ask('plan.create', { ...request, expected_plan_hash })
  return pathsOf(reply)
}

interface Reply {
  ok: boolean
  problem?: { code: string; details?: Record<string, unknown> }
}

function pathsOf(reply: Reply): string[] | null {
  if (reply.ok) return null
  expect(reply.problem?.code).toBe('CONFLICT')
  const differences = reply.problem?.details?.['differences'] as Record<'path' | 'message' | 'actual', string>[]
  for (const { message, actual } of differences) expect([typeof message, typeof actual]).toEqual(['string', 'string'])
  return differences.map(({ path }) => path)
}

const script = { type: 'script', script: 'true' }

async function scene() {
  const environment_id = await addEnvironment(database, null, { level: 'e', token: 'environment-secret' })
  const action = await addSource(database, {
    versions: { '1.0.0': { ...script, variables: [{ name: 'token', sensitive: true }] } },
  })
  const sequence = await addSource(database, {
    kind: 'sequence',
    versions: { '1.0.0': { actions: [{ action_id: action.id }] } },
  })
  const first = await addTarget(database, { variables: { port: 1 } })
  const second = await addTarget(database)
  const request: Request = {
    sequence_id: sequence.id,
    environment_id,
    target_ids: [first.id, second.id],
    variables: { a: { x: 1, y: [1, 2] }, b: '2' },
  }
  return { environment_id, action, sequence, first, second, request }
}

describe('the hash of a plan', () => {
  test('is the same for the same plan in any order of keys, and is accepted', async () => {
    const { request } = await scene()
    const hash = await hashOf(request)
    expect(await hashOf({ ...request, variables: { b: '2', a: { y: [1, 2], x: 1 } } })).toBe(hash)
    expect(await hashOf({ ...request, target_mode: 'sequential', priority: 0, bypass_cache: true })).toBe(hash)
    expect(await differing(request, hash)).toBeNull()
  })

  test('names each part that differs', async () => {
    const { request, first, second, environment_id } = await scene()
    const hash = await hashOf(request)
    const other = await addSource(database)
    expect(await differing({ ...request, variables: { a: { x: 1, y: [2, 1] }, b: '2' } }, hash)).toEqual([
      'variables/request',
    ])
    expect(await differing({ ...request, target_ids: [second.id, first.id] }, hash)).toEqual([
      'targets',
      'variables/targets',
    ])
    for (const options of [
      { target_mode: 'parallel' as const },
      { failure_strategy: 'ignore_failures' as const },
      { rollback_strategy: 'all_executed' as const },
      { priority: 1 },
      { deployment_timeout_seconds: 1 },
    ]) {
      expect(await differing({ ...request, ...options }, hash)).toEqual(['options'])
    }
    expect(await differing({ ...request, max_retries: 1 }, hash)).toEqual(['steps', 'options'])
    const { environment_id: _, ...nowhere } = request
    expect(await differing(nowhere, hash)).toEqual(['scope', 'variables/scope'])
    const { sequence_id: __, ...sourceless } = request
    expect(await differing({ ...sourceless, action_id: other.id }, hash)).toEqual(['source', 'versions', 'steps'])
    const sealed = keyRing.seal(
      JSON.stringify({ level: 'E', token: 'environment-secret' }),
      `environment:${environment_id}:variables`,
    )
    await database.query('UPDATE environments SET variables_sealed = $2 WHERE id = $1', [environment_id, sealed])
    expect(await differing(request, hash)).toEqual(['variables/scope'])
  })

  test('detects a new version of a nested source', async () => {
    const { request, action } = await scene()
    const hash = await hashOf(request)
    await database.query(
      `INSERT INTO source_versions (source_id, version, definition) VALUES ($1, '1.1.0', $2::jsonb)`,
      [action.id, JSON.stringify(script)],
    )
    const reply = await rig.ask('plan.create', { ...request, expected_plan_hash: hash })
    expect(pathsOf(reply)).toEqual(['versions'])
    expect(JSON.stringify(reply)).toContain('1.1.0')
  })

  test('is not checked by a preview', async () => {
    const { request } = await scene()
    const hash = await hashOf(request)
    const changed = { ...request, priority: 9, expected_plan_hash: hash }
    expect(await hashOf(changed)).not.toBe(hash)
  })

  test('is also valid for a redeploy', async () => {
    const { request, sequence } = await scene()
    const hash = await hashOf(request)
    const { command_id } = await rig.ask('plan.create', request)
    const command = rig.started.find((each) => each.command_id === command_id)
    if (!command) throw new Error('not started')
    await storeDeployment(database, command)
    await database.query(
      `INSERT INTO source_versions (source_id, version, definition) SELECT source_id, '2.0.0', definition
                            FROM source_versions WHERE source_id = $1`,
      [sequence.id],
    )
    expect(pathsOf((await rig.redeploy(command_id, { expected_plan_hash: hash })) as Reply)).toBeNull()
    const again = await rig.redeploy(command_id, { expected_plan_hash: hash, priority: 3, variables: { b: '3' } })
    expect(pathsOf(again as Reply)).toEqual(['variables/request', 'options'])
  })

  test('reveals nothing without the key, and a value in a request reveals no equal secret elsewhere', async () => {
    const { request } = await scene()
    const { command_id } = await rig.ask('plan.create', request)
    const plan = rig.started.find((each) => each.command_id === command_id)?.plan as Parameters<typeof planHash>[1]
    const stranger = KeyRing.parse(`test:${Buffer.alloc(32).toString('base64')}`)
    const digestsOf = (hash: string) => hash.split('.').slice(2)
    const own = digestsOf(planHash(keyRing, plan))
    for (const [index, digest] of digestsOf(planHash(stranger, plan)).entries()) expect(digest).not.toBe(own[index])
    const empty = await hashOf({ ...request, variables: {} })
    const guess = await hashOf({ ...request, variables: { token: 'environment-secret', level: 'e' } })
    expect(digestsOf(guess).filter((digest, index) => digest !== digestsOf(empty)[index])).toHaveLength(1)
    // The hash of the request layer includes its name, so equal content in another layer has another digest.
    expect(digestsOf(empty)).not.toContain(digestsOf(guess)[8])
  })

  test('is valid while its key is in the ring, and is refused afterwards', async () => {
    const { request } = await scene()
    const { command_id } = await rig.ask('plan.create', request)
    const plan = rig.started.find((each) => each.command_id === command_id)?.plan as Parameters<typeof planHash>[1]
    const [old, young] = ['old', 'new'].map((id, index) => `${id}:${Buffer.alloc(32, index + 1).toString('base64')}`)
    const hash = planHash(KeyRing.parse(old ?? ''), plan)
    expect(() => checkPlanHash(KeyRing.parse(`${young},${old}`), plan, hash)).not.toThrow()
    expect(() => checkPlanHash(KeyRing.parse(young ?? ''), plan, hash)).toThrow('plan_hash')
    expect(() => checkPlanHash(KeyRing.parse(old ?? ''), plan, hash.replace('p1.', 'p2.'))).toThrow('plan_hash')
  })
})
