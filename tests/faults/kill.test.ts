import fs from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  completeLines,
  connectTo,
  createAction,
  createLocalTargets,
  createSequence,
  deploymentEnd,
  logHistory,
  loginToSuite,
  openLogStream,
  readStream,
  type ServiceName,
  type Suite,
  startSuite,
  violatedInvariants,
  waitFor,
} from '@slipway/testing'

let suite: Suite
let api: Api
let database: Awaited<ReturnType<typeof connectTo>>

beforeAll(async () => {
  suite = await startSuite()
  database = await connectTo(suite.databaseUrl)
  api = await loginToSuite(suite)
})

afterEach(() => suite.restore())

afterAll(async () => {
  await database?.end()
  await suite?.stop()
})

interface Journey {
  id: string
  /** The lines that the commands write at their start and at their end. */
  journal(): { target: string; action: string; attempt: number; what: 'start' | 'end' }[]
}

/** Starts three actions on each of three targets, which note their starts and ends. A failed attempt is retried. */
async function startJourney(): Promise<Journey> {
  const file = path.join(suite.folder, `journal-${Math.random().toString(36).slice(2)}`)
  const script = (name: string) =>
    [
      `echo "$SLIPWAY_TARGET_NAME ${name} $SLIPWAY_ATTEMPT start" >> "$SLIPWAY_VAR_JOURNAL"`,
      `for i in 1 2 3 4 5; do echo "${name} $i"; sleep 0.1; done`,
      `echo "$SLIPWAY_TARGET_NAME ${name} $SLIPWAY_ATTEMPT end" >> "$SLIPWAY_VAR_JOURNAL"`,
    ].join('\n')
  const actions = []
  for (const name of ['one', 'two', 'three']) actions.push(await createAction(api, { script: script(name) }))
  const target_ids = await createLocalTargets(api, 3)
  const { status, body } = await api.post('/deployments', {
    sequence_id: await createSequence(api, actions),
    target_ids,
    max_retries: 1,
    variables: { journal: file },
  })
  expect(status).toBe(201)
  return {
    id: body.deployment_id,
    journal: () =>
      completeLines(file).map((line) => {
        const [target = '', action = '', attempt = '', what = ''] = line.split(' ')
        return { target, action, attempt: Number(attempt), what: what as 'start' | 'end' }
      }),
  }
}

const middle = (journey: Journey) =>
  waitFor(() => journey.journal().some((entry) => entry.action === 'two'), { what: 'the second action to start' })

/** Expects that the deployment succeeds, every step ran once to its end, and no attempt began twice. */
async function expectRanOnce(journey: Journey) {
  const ended = await deploymentEnd(api, journey.id)
  expect(ended).toMatchObject({ state: 'success', completed_steps: 9, failed_steps: 0, progress: 1 })
  const journal = journey.journal()
  const started = journal.filter((e) => e.what === 'start').map((e) => `${e.target} ${e.action} ${e.attempt}`)
  expect(new Set(started).size).toBe(started.length)
  const finished = journal.filter((e) => e.what === 'end').map((e) => `${e.target} ${e.action}`)
  expect([finished.length, new Set(finished).size]).toEqual([9, 9])

  const lines = await logHistory(api, journey.id)
  expect(lines.map((line) => line.metadata.seq)).toEqual(lines.map((_, index) => index))
  expect(await violatedInvariants(suite.databaseUrl)).toEqual([])
  return { ended, started, lines }
}

for (const name of ['gateway', 'planner', 'dispatcher', 'executor-bridge', 'log-stream'] satisfies ServiceName[]) {
  test(`after kill -9 of the ${name} during a deployment, no line is lost and no step runs twice`, async () => {
    const journey = await startJourney()
    await middle(journey)
    await suite.kill(name)
    await suite.start(name)
    const { started, lines } = await expectRanOnce(journey)
    expect(started).toHaveLength(9)
    expect(lines.filter(({ stdout }) => stdout === null)).toEqual([])
    expect(lines).toHaveLength(45)
  })
}

test('after kill -9 of the orchestration instance, its command is dead and is retried', async () => {
  const journey = await startJourney()
  await middle(journey)
  await suite.kill('orchestration-instance')
  const before = journey.journal()
  const unfinished = before.filter((e) => e.what === 'start').length - before.filter((e) => e.what === 'end').length
  await suite.start('orchestration-instance')
  const { ended, started } = await expectRanOnce(journey)
  expect(started).toHaveLength(9 + unfinished)
  const retries = ended.plan.steps.reduce((sum: number, step: { retry_count: number }) => sum + step.retry_count, 0)
  expect(retries).toBe(unfinished)
})

test('the command of a lost instance has failed without further attempts, and is rolled back', async () => {
  const file = path.join(suite.folder, 'lost')
  const [script, rollback] = ['echo start >> "$SLIPWAY_VAR_FILE"; sleep 600', 'echo rollback >> "$SLIPWAY_VAR_FILE"']
  const journal = () => completeLines(file)
  const { body } = await api.post('/deployments', {
    action_id: await createAction(api, { script, rollback }),
    target_ids: await createLocalTargets(api, 1),
    rollback_strategy: 'all_executed',
    variables: { file },
  })
  await waitFor(() => journal().length === 1, { what: 'the command to start' })
  await suite.kill('orchestration-instance')
  await database.query(
    `UPDATE instances SET last_heartbeat_at = now() - interval '60 seconds' WHERE removed_at IS NULL`,
  )
  await waitFor(async () => (await database.query('SELECT FROM leases WHERE ended_at IS NULL')).rows.length === 0, {
    what: 'the lease to end',
  })
  await suite.start('orchestration-instance')
  const ended = await deploymentEnd(api, body.deployment_id)
  expect(ended).toMatchObject({ state: 'rolled_back', plan: { steps: [{ state: 'rolled_back' }] } })
  expect(journal()).toEqual(['start', 'rollback'])
  expect(await violatedInvariants(suite.databaseUrl)).toEqual([])
})

test('a stream client whose log-stream is killed resumes at its line number and gets every line once', async () => {
  const journey = await startJourney()
  const seen: number[] = []
  const collect = (m: { event: string; data: { log?: { metadata: { seq: number } } } }) => {
    if (m.event === 'log' && m.data.log !== undefined) seen.push(m.data.log.metadata.seq)
  }
  const first = readStream(await openLogStream(suite, api, journey.id), collect).catch(() => 'cut')
  await waitFor(() => seen.length >= 8)
  await suite.kill('log-stream')
  await first
  await suite.start('log-stream')
  const rest = await readStream(await openLogStream(suite, api, journey.id, seen.length), collect)
  expect(rest.at(-1)).toMatchObject({ event: 'state_change', data: { new_state: 'success', log_lines: 45 } })
  expect(seen).toEqual(Array.from({ length: 45 }, (_, index) => index))
})

test('after the instance dies during a check of a release, the target is not drifted and can be checked again', async () => {
  const flag = (name: string) => path.join(suite.folder, name)
  fs.writeFileSync(flag('slow'), '')
  const script = `[ ! -e '${flag('slow')}' ] && exit 0; touch '${flag('checking')}'; sleep 600; exit 1`
  const sequence_id = await createSequence(api, [await createAction(api, { check: { script } })])
  const { body } = await api.post('/deployments', { sequence_id, target_ids: await createLocalTargets(api, 1) })
  await deploymentEnd(api, body.deployment_id)
  const check = () => api.post('/releases/check', { sequence_id })
  const checked = () =>
    waitFor(
      async () => {
        const [release] = (await api.get(`/releases?sequence_id=${sequence_id}`)).body.data
        return release.check.is_pending ? null : release
      },
      { what: 'the check to end' },
    )
  await check()
  await waitFor(() => fs.existsSync(flag('checking')), { what: 'the check to run' })
  await suite.kill('orchestration-instance')
  await suite.start('orchestration-instance')
  expect(await checked()).toMatchObject({ state: 'applied', check: { result: 'unknown', drifted_since: null } })
  fs.rmSync(flag('slow'))
  await check()
  expect(await checked()).toMatchObject({ state: 'applied', check: { result: 'in_sync' } })
})
