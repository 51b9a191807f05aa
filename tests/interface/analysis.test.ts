import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  createLocalTarget,
  createLocalTargets,
  deploymentEnd,
  logHistory,
  loginToSuite,
  openLogStream,
  readStream,
  type Suite,
  startSuite,
  violatedInvariants,
  waitFor,
} from '@slipway/testing'

let suite: Suite
let api: Api

const FULL = 'echo "cp: error writing /opt/app: No space left on device" >&2; exit 1'
const ANALYSIS = {
  fingerprint: 'disk-full',
  confidence: expect.any(Number),
  summary: 'The disk is full',
  likely_cause: expect.stringContaining('“cp: error writing /opt/app: No space left on device”'),
  remediation: expect.arrayContaining([expect.any(String)]),
  analyzed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  model_version: 'rules-2',
}

async function deployed(script: string, body: Record<string, unknown> = {}, count = 1): Promise<string> {
  const action_id = await createAction(api, { script })
  const target_ids = await createLocalTargets(api, count)
  const answer = await api.post('/deployments', { action_id, target_ids, ...body })
  expect(answer.status).toBe(201)
  return answer.body.deployment_id
}

/** The log lines that report failed steps. */
const reports = async (id: string) => (await logHistory(api, id)).filter(({ analysis }) => analysis !== null)
const results = async (id: string) => (await api.get(`/deployments/${id}/analysis`)).body

describe('analyses by the rules', () => {
  beforeAll(async () => {
    suite = await startSuite({ capacity: 4 })
    api = await loginToSuite(suite)
  })
  afterAll(async () => {
    try {
      expect(await violatedInvariants(suite.databaseUrl)).toEqual([])
    } finally {
      await suite.stop()
    }
  })

  test('a failed script has its analysis in the result, in the history and in the live stream', async () => {
    const id = await deployed(`sleep 1; ${FULL}`)
    const live = await readStream(await openLogStream(suite, api, id))
    const ended = await deploymentEnd(api, id)
    expect(ended).toMatchObject({ state: 'failed', analysis_enabled: true })
    expect(ended.error_message).toMatch(/exit code 1$/)
    expect(await results(id)).toMatchObject([{ status: 'failed', analysis: ANALYSIS }])

    const [report, ...others] = await reports(id)
    expect(others).toEqual([])
    expect(report).toMatchObject({ level: 'error', step_id: ended.plan.steps[0].id, analysis: ANALYSIS })
    expect(report?.metadata).toEqual({ seq: 1, exit_code: 1, fingerprint: 'disk-full' })

    const logs = live.filter(({ event }) => event === 'log').map(({ data }) => data.log)
    const told = logs.find(({ metadata }) => metadata.seq === 1)
    expect(told.metadata).toEqual({ ...report?.metadata, analysis: ANALYSIS })
    expect(logs.filter(({ metadata }) => 'analysis' in metadata)).toHaveLength(1)
    // A stream client that connects later gets the same line.
    const late = await readStream(await openLogStream(suite, api, id))
    expect(late.find(({ data }) => data.log?.metadata.seq === 1)?.data.log.metadata).toEqual(told.metadata)
  })

  test('failures of the same kind have one fingerprint on all targets, and the error of the deployment counts them', async () => {
    // Numbers and file names in the output do not change the kind.
    const script = `n=$(mktemp -d); rmdir "$n"; case "$SLIPWAY_VAR_KIND" in
      other) echo "frob is cold" >&2; exit 9 ;;
      *) echo "$$: [$n/x.$$] frob 10.1.2.$(($$ % 200)) went away after $(($$ % 9)) ms" >&2; exit 9 ;; esac`
    const action_id = await createAction(api, { script })
    const target_ids = [
      ...(await createLocalTargets(api, 4)),
      await createLocalTarget(api, { variables: { kind: 'other' } }),
    ]
    const { body } = await api.post('/deployments', {
      ...{ action_id, target_ids, target_mode: 'parallel', failure_strategy: 'continue_on_failure' },
    })
    const ended = await deploymentEnd(api, body.deployment_id)
    expect(ended.error_message).toMatch(/^4 of 5 failures: .*went away.*; the first was action-\w+ on target-\w+$/)
    const fingerprints = (await reports(body.deployment_id)).map(({ metadata }) => metadata['fingerprint'])
    expect(fingerprints).toHaveLength(5)
    expect(new Set(fingerprints).size).toBe(2)
  })

  test('four different failures give four fingerprints, each on all of its targets', async () => {
    const script = `echo "deploying $SLIPWAY_TARGET_NAME"; case "$SLIPWAY_VAR_KIND" in
      port) echo "port $$ is taken by another process" >&2 ;;
      licence) echo "the licence of $SLIPWAY_TARGET_NAME has no seat left" >&2 ;;
      queue) echo "the queue still holds $$ jobs" >&2 ;;
      *) exit 3 ;; esac
      echo "deploy failed" >&2; exit 1`
    const action_id = await createAction(api, { script })
    const kinds = ['port', 'licence', 'queue', 'silent']
    const target_ids = await Promise.all(
      [...kinds, ...kinds].map((kind) => createLocalTarget(api, { variables: { kind } })),
    )
    const { body } = await api.post('/deployments', {
      ...{ action_id, target_ids, target_mode: 'parallel', failure_strategy: 'continue_on_failure' },
    })
    const ended = await deploymentEnd(api, body.deployment_id)
    expect(ended.error_message).toMatch(/^2 of 8 failures: /)
    const groups = new Map<string, string[]>()
    for (const { target_id, analysis } of await results(body.deployment_id)) {
      const kind = kinds[target_ids.indexOf(target_id) % kinds.length] as string
      groups.set(analysis.fingerprint, [...(groups.get(analysis.fingerprint) ?? []), kind])
    }
    expect([...groups.values()].sort()).toEqual(kinds.toSorted().map((kind) => [kind, kind]))
    expect(groups.get('port-in-use')).toEqual(['port', 'port'])
  })

  test('a secret in the text of an analysis is masked', async () => {
    const script = 'echo "cat: /srv/$SLIPWAY_VAR_PASSWORD/x: No such file or directory" >&2; exit 1'
    const action_id = await createAction(api, { script, variables: [{ name: 'password', sensitive: true }] })
    const target_ids = [await createLocalTarget(api)]
    const variables = { password: 'correct-horse-battery' }
    const { body } = await api.post('/deployments', { action_id, target_ids, variables })
    await deploymentEnd(api, body.deployment_id)
    const shown = JSON.stringify([await results(body.deployment_id), await reports(body.deployment_id)])
    expect(shown).toContain('A file or directory does not exist')
    expect(shown).not.toContain('correct-horse-battery')
  })

  test('a command that succeeds when it is tried again has no analysis', async () => {
    const id = await deployed(`[ "$SLIPWAY_ATTEMPT" -gt 0 ] || { ${FULL}; }`, { max_retries: 1 })
    const ended = await deploymentEnd(api, id)
    expect(ended).toMatchObject({ state: 'success', error_message: null })
    expect(ended.plan.steps).toMatchObject([{ retry_count: 1 }])
    const [result, ...others] = await results(id)
    expect(others).toEqual([])
    expect(result).toMatchObject({ status: 'completed' })
    expect(result).not.toHaveProperty('analysis')
    expect(await reports(id)).toEqual([])
  })

  test('a successful or cancelled command has no analysis', async () => {
    const good = await deployed('true')
    await deploymentEnd(api, good)
    const cancelled = await deployed('sleep 600')
    await waitFor(async () => (await api.get(`/deployments/${cancelled}`)).body.plan.steps[0].state === 'running')
    await api.post(`/deployments/${cancelled}/cancel`, {})
    expect(await deploymentEnd(api, cancelled)).toMatchObject({ state: 'cancelled' })
    for (const id of [good, cancelled]) {
      const found = await results(id)
      expect(found).toHaveLength(1)
      expect(found[0]).not.toHaveProperty('analysis')
      expect(await reports(id)).toEqual([])
    }
  })
})

describe('analyses by an endpoint', () => {
  let endpoint: Server
  const asked: string[] = []
  const opinion = {
    confidence: 0.5,
    summary: 'Seen before',
    likely_cause: 'As last week',
    remediation: ['As last week'],
  }

  beforeAll(async () => {
    endpoint = createServer(async (request, response) => {
      let text = ''
      for await (const piece of request) text += piece
      asked.push(text)
      response.end(JSON.stringify({ choices: [{ message: { content: JSON.stringify(opinion) } }] }))
    })
    await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
    suite = await startSuite({
      env: {
        SLIPWAY_ANALYSIS_URL: `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/v1`,
        SLIPWAY_ANALYSIS_MODEL: 'oracle-1',
        SLIPWAY_ANALYSIS_ALLOW_PRIVATE: 'true',
      },
    })
    api = await loginToSuite(suite)
  })
  afterAll(async () => {
    await suite.stop()
    endpoint.close()
  })

  test('the analysis of the endpoint replaces that of the rules in results and history', async () => {
    const id = await deployed(FULL)
    await deploymentEnd(api, id)
    await waitFor(async () => (await results(id))[0].analysis.model_version === 'oracle-1')
    const expected = { ...opinion, model_version: 'oracle-1' }
    expect(await results(id)).toMatchObject([{ analysis: expected }])
    expect(await reports(id)).toMatchObject([{ analysis: expected, metadata: { fingerprint: 'disk-full' } }])
    expect(asked).toHaveLength(1)
  })
})

describe('with analyses switched off', () => {
  beforeAll(async () => {
    suite = await startSuite({ env: { SLIPWAY_ANALYSIS_ENABLED: 'false' } })
    api = await loginToSuite(suite)
  })
  afterAll(() => suite.stop())

  test('failures have no analysis, and the deployment shows the setting', async () => {
    const id = await deployed(FULL)
    expect(await deploymentEnd(api, id)).toMatchObject({ state: 'failed', analysis_enabled: false })
    expect((await results(id))[0]).not.toHaveProperty('analysis')
    expect(await reports(id)).toEqual([])
  })
})
