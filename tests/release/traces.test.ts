import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  type CollectedSpan,
  createAction,
  createGate,
  createLocalTarget,
  deploymentEnd,
  loginToSuite,
  openLogStream,
  readStream,
  SERVICES,
  type Suite,
  startAgent,
  startSuite,
  startTraceCollector,
  type TraceCollector,
  waitFor,
} from '@slipway/testing'

let collector: TraceCollector
let suite: Suite
let api: Api

beforeAll(async () => {
  collector = await startTraceCollector()
  suite = await startSuite({
    capacity: 1,
    env: {
      ...exporting(),
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer of-the-test,x-team=slipway',
    },
  })
  api = await loginToSuite(suite)
})
afterAll(async () => {
  await suite?.stop()
  await collector.close()
})

// OTEL_BSP_SCHEDULE_DELAY is a variable of OpenTelemetry: the milliseconds between two exports.
const exporting = () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`, OTEL_BSP_SCHEDULE_DELAY: '100' })

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

const create = (body: object, trace: string) =>
  api.call('POST', '/deployments', body, {
    'x-request-id': 'traced-request',
    traceparent: `00-${trace}-00f067aa0ba902b7-01`,
  })

const ofTrace = (trace: string) => collector.spans.filter(({ traceId }) => traceId === trace)
const named = (trace: string, service: string, name: string) => {
  const found = ofTrace(trace).find((span) => span.service === service && span.name === name)
  if (!found) throw new Error(`${service} has no span ${name}: ${ofTrace(trace).map((s) => `${s.service} ${s.name}`)}`)
  return found
}

/** The services and names of all spans from the root of the trace to this span. */
function wayTo(span: CollectedSpan): string[] {
  const parent = ofTrace(span.traceId).find(({ spanId }) => spanId === span.parentSpanId)
  return [...(parent ? wayTo(parent) : [`from ${span.parentSpanId}`]), `${span.service}: ${span.name}`]
}

test('a deployment is one trace, from the request over all messages to the command and back', async () => {
  const [action_id, target] = await Promise.all([createAction(api, { script: 'exit 3' }), createLocalTarget(api)])
  const { body } = await create({ action_id, target_ids: [target] }, TRACE)
  expect((await deploymentEnd(api, body.deployment_id)).state).toBe('failed')
  await waitFor(() => ofTrace(TRACE).some(({ name }) => name === 'process run.finished'))
  const watched = ({ service, name }: CollectedSpan) =>
    service === 'log-stream' && name === 'process deployment.updated'
  await waitFor(() => ofTrace(TRACE).some(watched), { what: 'the span of the log-stream' })

  expect(wayTo(named(TRACE, 'orchestration-instance', 'run action'))).toEqual([
    'from 00f067aa0ba902b7',
    'gateway: POST /api/v1/deployments',
    'planner: process plan.create',
    'dispatcher: process deployment.start',
    'executor-bridge: start run',
    'orchestration-instance: run deployment',
    'orchestration-instance: run action',
  ])
  const command = named(TRACE, 'orchestration-instance', 'run action')
  expect(command.failed).toBe(true)
  expect(command.attributes).toMatchObject({ 'process.exit.code': 3, 'slipway.transport': 'local' })
  expect(named(TRACE, 'gateway', 'POST /api/v1/deployments').attributes).toMatchObject({
    'http.response.status_code': 201,
    'slipway.request_id': 'traced-request',
  })
  named(TRACE, 'executor-bridge', 'apply run events')
  named(TRACE, 'dispatcher', 'process run.finished')
  expect(collector.headers()).toMatchObject({ authorization: 'Bearer of-the-test', 'x-team': 'slipway' })

  // The log lines have the id of the trace.
  const lines = SERVICES.flatMap((service) => suite.logOf(service).split('\n'))
  const ofRequest = lines.filter((line) => line.includes('"request_id":"traced-request"'))
  expect(ofRequest.length).toBeGreaterThan(1)
  expect(ofRequest.filter((line) => !line.includes(`"trace_id":"${TRACE}"`))).toEqual([])
  expect(suite.logOf('orchestration-instance')).not.toContain('of-the-test')
})

test('a dispatched request continues its own trace, not that of the deployment that freed the slot', async () => {
  const gate = createGate(suite)
  const [slow, quick, target] = await Promise.all([
    createAction(api, { script: gate.script }),
    createAction(api),
    createLocalTarget(api),
  ])
  const [first, second] = ['a'.repeat(32), 'b'.repeat(32)]
  expect((await create({ action_id: slow, target_ids: [target] }, first)).status).toBe(201)
  expect((await create({ action_id: quick, target_ids: [target] }, second)).status).toBe(202)
  gate.open()
  await waitFor(() => ofTrace(second).some(({ name }) => name === 'process run.finished'))
  expect(wayTo(named(second, 'orchestration-instance', 'run action')).slice(0, 4)).toEqual([
    'from 00f067aa0ba902b7',
    'gateway: POST /api/v1/deployments',
    'planner: process plan.create',
    'dispatcher: process deployment.start',
  ])
  expect(ofTrace(first).filter(({ name }) => name === 'run action')).toHaveLength(1)
})

test('a trace continues in the agent of a target', async () => {
  const { body } = await api.post('/targets', { name: 'db-1', connection: { type: 'agent' } })
  const { token } = (await api.post(`/targets/${body.id}/agent-token`)).body
  const agent = await startAgent({ bridgeUrl: suite.bridgeUrl, token, settings: exporting() })
  try {
    const trace = 'c'.repeat(32)
    const action_id = await createAction(api, { script: 'exit 4' })
    await create({ action_id, target_ids: [body.id] }, trace)
    const ran = ({ service, name }: CollectedSpan) => service === 'target-agent' && name === 'run command'
    const span = await waitFor(() => ofTrace(trace).find(ran), { what: 'the span of the agent' })
    await waitFor(() => ofTrace(trace).some(({ name }) => name === 'run action'))
    expect(wayTo(span).slice(-3)).toEqual([
      'orchestration-instance: run action',
      'target-agent: PUT /v1/commands/{id}',
      'target-agent: run command',
    ])
    expect([span.failed, span.attributes['process.exit.code']]).toEqual([true, 4])
  } finally {
    await agent.remove()
  }
})

test('a stream has a span in the gateway and in the log-stream; a readiness probe has none', async () => {
  const before = collector.spans.length
  await fetch(`${suite.url}/api/v1/health/ready`)
  const { body } = await api.get('/deployments?limit=1')
  await readStream(await openLogStream(suite, api, body.data[0].id))
  const route = 'GET /api/v1/deployments/{id}/logs'
  const opened = await waitFor(
    () => collector.spans.find(({ service, name }) => service === 'log-stream' && name === route),
    { what: 'the span of the stream' },
  )
  // Each service exports its spans independently, so the span of the gateway may arrive later.
  await waitFor(() => wayTo(opened).slice(-2).join() === `gateway: ${route},log-stream: ${route}`, {
    what: 'the span of the gateway before it',
  })
  expect(collector.spans.slice(before).filter(({ name }) => name.includes('health'))).toEqual([])
})
