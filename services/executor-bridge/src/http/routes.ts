import {
  AgentEnrolRequest,
  AgentHeartbeatRequest,
  EventBatch,
  JoinRequest,
  PartialLines,
  SyncRequest,
} from '@slipway/contracts'
import { isUuid, Problem } from '@slipway/domain'
import { type Answer, bearerOf, checker, type HttpCall, jsonReader, type Route, readJson } from '@slipway/http'
import { FairSemaphore } from '@slipway/runtime'
import { authenticateAgent } from '../agents/credentials.ts'
import { enrolAgent } from '../agents/enrol.ts'
import { agentHeartbeat } from '../agents/heartbeat.ts'
import type { Bridge } from '../bridge.ts'
import { contentOfRuns } from '../content/serve.ts'
import { applyBatch } from '../events/apply.ts'
import { passOnPartialLines } from '../events/partial-lines.ts'
import { authenticateInstance, rotateCredential } from '../instances/credentials.ts'
import { join } from '../instances/join.ts'
import { createRefusedJoins } from '../instances/join-audit.ts'
import { sync } from '../instances/sync.ts'
import { type Ticket, ticketOf } from '../instances/tickets.ts'
import { fetchSpec } from '../runs/start.ts'

const BATCH = { bytes: 8 * 1024 * 1024 }
const JOIN = { bytes: 256 * 1024 }
/** The body is read before the token is verified, so it may come from a stranger and must be small. */
const AGENT = { bytes: 4 * 1024 }
/** Each batch uses a connection to Postgres. Without this limit, the batches of one instance delay those of all others. */
const BATCHES_OF_INSTANCE = { limit: Number.POSITIVE_INFINITY, perKey: 4, maxWaiting: 1_000 }
/** A blank, which JSON allows before a value, shows the instance that the connection of a waiting sync lives. */
const PULSE_MS = 1_000

/** The caller is authenticated before a large body is read. */
export function createRoutes(bridge: Bridge, stopping: AbortSignal): Route[] {
  return [...instanceRoutes(bridge, stopping), ...runRoutes(bridge), ...agentRoutes(bridge)]
}

type InstanceHandler = (call: HttpCall, instanceId: string) => Promise<Answer | null>

const asInstance =
  (bridge: Bridge, handle: InstanceHandler): Route['handle'] =>
  async (call) => {
    const instanceId = await authenticateInstance(bridge, bearerOf(call.request))
    call.log['instance_id'] = instanceId
    return handle(call, instanceId)
  }

function instanceRoutes(bridge: Bridge, stopping: AbortSignal): Route[] {
  const checkJoin = checker(JoinRequest)
  const readSync = jsonReader(SyncRequest, BATCH)
  const refusedJoins = createRefusedJoins(bridge)
  return [
    {
      method: 'POST',
      path: '/v1/instances',
      async handle({ request, clientIp, requestId }) {
        const caller = { ip: clientIp || null, request_id: requestId }
        let ticket: Ticket | undefined
        let body: unknown
        try {
          ticket = await ticketOf(bridge, bearerOf(request))
          body = (await readJson(request, JOIN)).value
          return { status: 201, body: await join(bridge, ticket, checkJoin(body), caller) }
        } catch (error) {
          await refusedJoins.record(error, ticket, body, caller)
          throw error
        }
      },
    },
    {
      method: 'POST',
      path: '/v1/instances/credential',
      handle: asInstance(bridge, async (_call, instanceId) => ({
        status: 200,
        body: await rotateCredential(bridge, instanceId),
      })),
    },
    {
      method: 'POST',
      path: '/v1/sync',
      handle: asInstance(bridge, async ({ request, response }, instanceId) => {
        const body = await readSync(request)
        const over = new AbortController()
        const end = () => over.abort()
        // Not AbortSignal.timeout: in Node 20 a garbage collection takes it out of AbortSignal.any, and the sync never ends.
        const timer = setTimeout(end, body.wait_seconds * 1_000)
        stopping.addEventListener('abort', end, { once: true })
        let pulse: NodeJS.Timeout | undefined
        response.on('close', () => {
          clearTimeout(timer)
          clearInterval(pulse)
          stopping.removeEventListener('abort', end)
          end()
        })
        const answer = await sync(bridge, instanceId, body, {
          onHeartbeat() {
            response.writeHead(200, {
              'Content-Type': 'application/json; charset=utf-8',
              // A proxy must not hold the blanks back.
              'X-Accel-Buffering': 'no',
            })
            response.flushHeaders()
            pulse = setInterval(() => response.write(' '), PULSE_MS)
          },
          over: over.signal,
        })
        clearInterval(pulse)
        response.end(JSON.stringify(answer))
        return null
      }),
    },
    {
      method: 'GET',
      path: '/v1/content/{sha256}',
      handle: asInstance(bridge, async ({ params }, instanceId) => ({
        status: 200,
        ...(await contentOfRuns(bridge, instanceId, params['sha256'] ?? '')),
      })),
    },
  ]
}

function runRoutes(bridge: Bridge): Route[] {
  const turns = new FairSemaphore(BATCHES_OF_INSTANCE)
  /**
   * Limits how many calls of an instance are handled at a time. A call waits for its turn before its body is read, so that waiting
   * calls need little memory. It keeps its place until it is handled, even if the instance has closed the connection.
   */
  const inTurn = (handle: InstanceHandler) =>
    asInstance(bridge, (call, instanceId) =>
      turns.run(instanceId, async () => (call.response.destroyed ? null : handle(call, instanceId))),
    )
  const readBatch = jsonReader(EventBatch, BATCH)
  const readPartialLines = jsonReader(PartialLines, BATCH)
  return [
    {
      method: 'GET',
      path: '/v1/runs/{id}/spec',
      handle: asInstance(bridge, async ({ params, search }, instanceId) => {
        const epoch = Number(new URLSearchParams(search).get('epoch') ?? Number.NaN)
        if (!Number.isSafeInteger(epoch)) throw noSuchRun()
        const run = { deployment_id: runOf(params), epoch }
        return { status: 200, body: await fetchSpec(bridge, instanceId, run) }
      }),
    },
    {
      method: 'POST',
      path: '/v1/runs/{id}/events',
      handle: inTurn(async ({ request, params }, instanceId) => {
        const next_event = await applyBatch(bridge, instanceId, runOf(params), await readBatch(request))
        return { status: 200, body: { next_event } }
      }),
    },
    {
      method: 'POST',
      path: '/v1/runs/{id}/partial-lines',
      handle: inTurn(async ({ request, params }, instanceId) => {
        await passOnPartialLines(bridge, instanceId, runOf(params), await readPartialLines(request))
        return { status: 200, body: {} }
      }),
    },
  ]
}

/** @throws Problem NOT_FOUND if the path does not have the id of a deployment */
function runOf({ id = '' }: Record<string, string>): string {
  if (!isUuid(id)) throw noSuchRun()
  return id
}

const noSuchRun = () => new Problem('NOT_FOUND', 'There is no such run')

function agentRoutes(bridge: Bridge): Route[] {
  const readEnrolment = jsonReader(AgentEnrolRequest, AGENT)
  const readHeartbeat = jsonReader(AgentHeartbeatRequest, AGENT)
  return [
    {
      method: 'POST',
      path: '/v1/agents',
      handle: async ({ request }) => ({
        status: 201,
        body: await enrolAgent(bridge, bearerOf(request), await readEnrolment(request)),
      }),
    },
    {
      method: 'POST',
      path: '/v1/agents/{id}/heartbeat',
      async handle({ request, params, log }) {
        const agentId = await authenticateAgent(bridge, bearerOf(request))
        log['agent_id'] = agentId
        if (params['id'] !== agentId) throw new Problem('FORBIDDEN', 'The credential is of another agent')
        return { status: 200, body: await agentHeartbeat(bridge, agentId, await readHeartbeat(request)) }
      },
    },
  ]
}
