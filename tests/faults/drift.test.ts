// Checks of releases in force: the tests change targets by hand, and kill the instance during a check.
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  createLocalTarget,
  createSequence,
  deploymentEnd,
  loginToSuite,
  type Receiver,
  type Suite,
  startReceiver,
  startSuite,
  violatedInvariants,
  waitFor,
} from '@slipway/testing'

const EVENTS = ['release.drifted', 'release.restored', 'deployment.started', 'deployment.finished']
const SECRET = 'correct-horse-battery'

let suite: Suite
let api: Api
let receiver: Receiver

beforeAll(async () => {
  suite = await startSuite({ env: { SLIPWAY_WEBHOOK_ALLOW_PRIVATE: 'true' } })
  api = await loginToSuite(suite)
  receiver = await startReceiver()
  expect(await api.post('/webhooks', { url: receiver.url, events: EVENTS })).toMatchObject({ status: 201 })
})

afterEach(() => suite.restore())

afterAll(async () => {
  await receiver.close()
  await suite.stop()
})

interface Place {
  folder: string
  targets: { id: string; name: string }[]
  /** The file that a deployment leaves on a target. */
  fileOf(name: string): string
}

async function createPlace(count: number): Promise<Place> {
  const folder = fs.mkdtempSync(path.join(suite.folder, 'drift-'))
  const targets = []
  for (let n = 0; n < count; n += 1) {
    const name = `${path.basename(folder)}-${n}`
    targets.push({ id: await createLocalTarget(api, { name }), name })
  }
  return { folder, targets, fileOf: (name) => path.join(folder, name) }
}

const FILE = '"$SLIPWAY_VAR_FOLDER/$SLIPWAY_TARGET_NAME"'
const WRITE = `echo "$SLIPWAY_VAR_TEXT" > ${FILE}`
const COMPARE = `[ "$(cat ${FILE} 2>/dev/null)" = "$SLIPWAY_VAR_TEXT" ] || { echo "expected $SLIPWAY_VAR_TEXT with {{ token }}"; exit 1; }`
const VARIABLES = [
  { name: 'folder', required: true },
  { name: 'text', default: 'blue' },
  { name: 'token', default: SECRET, sensitive: true },
]

async function deploy(sequence_id: string, { folder, targets }: Place, more: object = {}): Promise<string> {
  const target_ids = targets.map(({ id }) => id)
  const { status, body } = await api.post('/deployments', { sequence_id, target_ids, variables: { folder }, ...more })
  expect(status).toBe(201)
  expect(await deploymentEnd(api, body.deployment_id)).toMatchObject({ state: 'success' })
  return body.deployment_id
}

/** The release in force on each target, ordered by the name of the target. */
async function releasesOf(sequence_id: string, query = '') {
  const { body } = await api.get(`/releases?sequence_id=${sequence_id}${query}`)
  return body.data as {
    target_name: string
    state: string
    check: Record<string, string | null> & { is_pending: boolean }
  }[]
}

/** Requests a check of the source and returns its results. */
async function check(sequence_id: string, total: number) {
  const { status, body } = await api.post('/releases/check', { sequence_id })
  expect({ status, body }).toMatchObject({ status: 202, body: { total, unchecked: 0 } })
  return await waitFor(
    async () => {
      const found = await releasesOf(sequence_id)
      return found.every((release) => !release.check.is_pending) ? found : null
    },
    { what: 'the check to end' },
  )
}

const toldOf = (type: string, name: string) =>
  waitFor(
    () => receiver.received.find(({ event }) => event.type === type && event.data['target_name'] === name)?.event.data,
    { what: `${type} of ${name}` },
  )

test('a target that was changed by hand has drifted, until the next deployment repairs it', async () => {
  const place = await createPlace(2)
  const [broken, whole] = place.targets as [Place['targets'][0], Place['targets'][0]]
  const sequence = await createSequence(api, [
    await createAction(api, { script: 'true' }),
    await createAction(api, { script: WRITE, check: { script: COMPARE }, variables: VARIABLES }),
  ])
  const first = await deploy(sequence, place)
  expect((await releasesOf(sequence)).map(({ check }) => check)).toEqual([
    { result: null, checked_at: null, drifted_since: null, message: null, is_pending: false, next_at: null },
    { result: null, checked_at: null, drifted_since: null, message: null, is_pending: false, next_at: null },
  ])
  expect((await check(sequence, 2)).map(({ state, check }) => [state, check['result']])).toEqual([
    ['applied', 'in_sync'],
    ['applied', 'in_sync'],
  ])

  const { body: before } = await api.get('/deployments')
  fs.rmSync(place.fileOf(broken.name))
  const found = await check(sequence, 2)
  expect(found.map(({ target_name, state, check }) => [target_name, state, check['result']])).toEqual([
    [broken.name, 'drifted', 'drifted'],
    [whole.name, 'applied', 'in_sync'],
  ])
  // The check ran with the variables of the deployment, and its output is masked.
  expect(found[0]?.check['message']).toContain('expected blue with ***')
  expect(JSON.stringify(found)).not.toContain(SECRET)
  // A check is not a deployment: it is in no list and in no webhook.
  expect((await api.get('/deployments')).body).toEqual(before)
  expect((await api.get(`/targets/${broken.id}/deployments`)).body.data).toMatchObject([{ id: first }])

  const drifted_since = found[0]?.check['drifted_since']
  expect(await toldOf('release.drifted', broken.name)).toMatchObject({
    source_id: sequence,
    target_id: broken.id,
    version: '1.0.0',
    deployment_id: first,
    check: { result: 'drifted', drifted_since },
  })
  expect(await releasesOf(sequence, '&state=drifted')).toMatchObject([{ target_name: broken.name }])
  const { body: matrix } = await api.get('/releases/matrix')
  const cell = matrix.data.find(({ source_id }: { source_id: string }) => source_id === sequence).cells[0]
  expect(cell).toMatchObject({ target_count: 2, drifted: 1, failed: 0 })
  const { body: history } = await api.get(`/targets/${broken.id}/releases?state=drifted`)
  expect(history.data).toMatchObject([{ deployment_id: first, state: 'drifted', is_current: true }])

  // A drifted target counts as changed, so `only_changed` includes it.
  const second = await deploy(sequence, place, { only_changed: true })
  const { body: detail } = await api.get(`/deployments/${second}`)
  expect(detail.config.unchanged_target_ids).toEqual([whole.id])
  expect(await toldOf('release.restored', broken.name)).toMatchObject({
    deployment_id: second,
    check: { result: null },
  })
  expect((await releasesOf(sequence)).map(({ state }) => state)).toEqual(['applied', 'applied'])
  expect((await check(sequence, 2)).map(({ check }) => check['result'])).toEqual(['in_sync', 'in_sync'])
  const deployments = new Set(
    receiver.received.flatMap(({ event }) => (event.type.startsWith('deployment.') ? [event.data['id']] : [])),
  )
  expect([...deployments].sort()).toEqual([first, second].sort())
})

test('a target that was repaired by hand is in sync again with the next check', async () => {
  const place = await createPlace(1)
  const [target] = place.targets as [Place['targets'][0]]
  const action = await createAction(api, { script: WRITE, check: { script: COMPARE }, variables: VARIABLES })
  const sequence = await createSequence(api, [action])
  await deploy(sequence, place)
  fs.writeFileSync(place.fileOf(target.name), 'red\n')
  expect(await check(sequence, 1)).toMatchObject([{ state: 'drifted' }])
  await toldOf('release.drifted', target.name)
  fs.writeFileSync(place.fileOf(target.name), 'blue\n')
  expect(await check(sequence, 1)).toMatchObject([{ state: 'applied', check: { result: 'in_sync', message: null } }])
  await toldOf('release.restored', target.name)
})

test('a check that cannot run has the result unknown with the reason, and begins or ends no drift', async () => {
  const place = await createPlace(1)
  const checks = { script: '[ -e "{{ folder }}/broken" ] && exit 1; echo "no daemon" >&2; exit 2' }
  const sequence = await createSequence(api, [
    await createAction(api, { script: 'true', check: checks, variables: VARIABLES }),
  ])
  await deploy(sequence, place)
  const [first] = await check(sequence, 1)
  expect(first).toMatchObject({ state: 'applied', check: { result: 'unknown', drifted_since: null } })
  expect(first?.check['message']).toMatch(/exit code 2.*no daemon/)

  // It does not end a drift either.
  fs.writeFileSync(place.fileOf('broken'), '')
  expect(await check(sequence, 1)).toMatchObject([{ state: 'drifted' }])
  fs.rmSync(place.fileOf('broken'))
  expect(await check(sequence, 1)).toMatchObject([{ state: 'drifted', check: { result: 'unknown' } }])
})

test('after an instance dies during a check, the target is not drifted and not pending, and can be checked again', async () => {
  const place = await createPlace(1)
  const flag = place.fileOf('slow')
  fs.writeFileSync(flag, '')
  const script = '[ ! -e "{{ folder }}/slow" ] && exit 0; touch "{{ folder }}/checking"; sleep 600; exit 1'
  const sequence = await createSequence(api, [
    await createAction(api, { script: 'true', check: { script }, variables: VARIABLES }),
  ])
  await deploy(sequence, place)
  await api.post('/releases/check', { sequence_id: sequence })
  await waitFor(() => fs.existsSync(place.fileOf('checking')), { what: 'the check to run' })
  await suite.kill('orchestration-instance')
  await suite.start('orchestration-instance')
  const [found] = await waitFor(
    async () => {
      const releases = await releasesOf(sequence)
      return releases.every(({ check }) => !check.is_pending) ? releases : null
    },
    { timeoutMs: 90_000, what: 'the check to be given up' },
  )
  expect(found).toMatchObject({ state: 'applied', check: { result: 'unknown', drifted_since: null } })
  fs.rmSync(flag)
  expect(await check(sequence, 1)).toMatchObject([{ state: 'applied', check: { result: 'in_sync' } }])
  expect(await violatedInvariants(suite.databaseUrl)).toEqual([])
})
