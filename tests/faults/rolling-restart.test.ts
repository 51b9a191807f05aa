import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  apiWithToken,
  createAction,
  createLocalTargets,
  createSequence,
  loginToSuite,
  readStream,
  type ServiceName,
  type Suite,
  sseToken,
  startSuite,
  violatedInvariants,
  waitFor,
} from '@slipway/testing'

/** Every process, in the order in which they are restarted. */
const ALL = [
  'gateway',
  'gateway-2',
  'log-stream',
  'log-stream-2',
  'planner',
  'planner-2',
  'dispatcher',
  'dispatcher-2',
  'executor-bridge',
  'executor-bridge-2',
  'orchestration-instance',
  'orchestration-instance-2',
] as const satisfies ServiceName[]

let suite: Suite

beforeAll(async () => {
  suite = await startSuite({
    secondGateway: true,
    secondLogStream: true,
    secondReplicas: true,
    secondInstance: true,
    env: { SLIPWAY_DRAIN_SECONDS: '2' },
  })
})

afterAll(() => suite?.stop())

/** A load balancer: asks each replica whether it is ready, and chooses among the ready ones. */
function startBalancer(replicas: [ServiceName, string][]) {
  let ready = replicas
  let turn = 0
  const ask = async () => {
    const answers = await Promise.all(replicas.map(([name]) => suite.isReady(name)))
    ready = replicas.filter((_, index) => answers[index])
  }
  const timer = setInterval(() => void ask(), 200)
  return {
    next(): string {
      turn += 1
      const chosen = ready[turn % ready.length]
      if (chosen === undefined) throw new Error(`none of ${replicas.map(([name]) => name)} is ready`)
      return chosen[1]
    },
    stop: () => clearInterval(timer),
  }
}

type Balancer = ReturnType<typeof startBalancer>

interface Traffic {
  /** All calls without an answer or with an unexpected status. */
  failures: string[]
  answered: number
  created: string[]
  /** The number of streams that ended before their deployment. */
  reopened: number
}

/** A client of any ready gateway that keeps its connections and records all failures. */
function through(gateways: Balancer, token: string, traffic: Traffic): Api {
  const call: Api['call'] = async (method, path, body) => {
    const url = gateways.next()
    try {
      // biome-ignore lint/suspicious/noExplicitAny: see Api
      const answer = await apiWithToken(url, token).call<any>(method, path, body)
      if (answer.status >= 200 && answer.status < 300) traffic.answered += 1
      else traffic.failures.push(`${url} ${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer
    } catch (error) {
      const { message, cause } = error as Error
      traffic.failures.push(`${url} ${method} ${path}: ${message} ${String(cause ?? '')}`)
      throw error
    }
  }
  return { token, call, get: (path) => call('GET', path), post: (path, body) => call('POST', path, body) }
}

test('while all processes restart one by one under load, no call fails and no deployment or line is lost', async () => {
  const admin = await loginToSuite(suite)
  // Each action writes ten lines in 0.2 s and has no retries.
  const script = 'for n in 1 2 3 4 5 6 7 8 9 10; do echo "line $n"; sleep 0.02; done'
  const actions = [await createAction(admin, { script }), await createAction(admin, { script })]
  const sequence_id = await createSequence(admin, actions)
  const target_ids = await createLocalTargets(admin, 2)

  const gateways = startBalancer([
    ['gateway', suite.url],
    ['gateway-2', suite.secondUrl],
  ])
  const logStreams = startBalancer([
    ['log-stream', suite.logStreams[0] ?? ''],
    ['log-stream-2', suite.logStreams[1] ?? ''],
  ])
  const traffic: Traffic = { failures: [], answered: 0, created: [], reopened: 0 }
  const api = through(gateways, admin.token, traffic)
  let restarting = true

  /** Reads the stream of a deployment from any ready log-stream until its last message. */
  const watch = async (id: string) => {
    const seen: number[] = []
    for (;;) {
      const token = await sseToken(api)
      const url = `${logStreams.next()}/api/v1/deployments/${id}/logs?sse_token=${token}&from=${seen.length}`
      const messages = await readStream(await fetch(url), ({ event, data }) => {
        if (event === 'log') seen.push(data.log.metadata.seq)
      }).catch((error: Error) => {
        traffic.failures.push(`${url}: ${error.message} ${String(error.cause ?? '')}`)
        return []
      })
      const last = messages.at(-1)
      if (last?.event === 'state_change' && last.data.new_state === 'success') return seen
      if (last?.event === 'state_change' && last.data.new_state === 'failed') throw new Error(`${id} failed`)
      traffic.reopened += 1
    }
  }
  const watched: Promise<[string, number[]]>[] = []
  const create = async () => {
    while (restarting) {
      const request = { sequence_id, target_ids, target_mode: 'sequential' }
      const id: string | undefined = (await api.post('/deployments', request)).body.deployment_id
      // A queued request is not watched. The pause lets it start.
      if (id === undefined) await sleep(500)
      else {
        traffic.created.push(id)
        watched.push(watch(id).then((seen) => [id, seen]))
        await api.get(`/deployments/${id}`)
      }
      await api.get('/deployments?limit=5')
    }
  }
  const clients = [create(), create(), create()]

  for (const name of ALL) {
    const before = traffic.answered
    await suite.kill(name, 'SIGTERM')
    await suite.start(name)
    await waitFor(() => traffic.answered > before, { what: 'a call that is answered meanwhile' })
  }
  restarting = false
  await Promise.all(clients)
  const streams = await Promise.all(watched)
  gateways.stop()
  logStreams.stop()

  expect(traffic.failures).toEqual([])
  expect(traffic.created.length).toBeGreaterThan(ALL.length)
  const all = Array.from({ length: 40 }, (_, index) => index)
  expect(streams.filter(([, seen]) => JSON.stringify(seen) !== JSON.stringify(all))).toEqual([])
  for (const name of ALL) expect([name, suite.logOf(name).match(/"message":"stopped"/g)?.length]).toEqual([name, 1])
  expect(await violatedInvariants(suite.databaseUrl, 120_000)).toEqual([])
})
