import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  compile,
  EnrolRequest,
  EventBatch,
  HeartbeatRequest,
  type LogEvent,
  type RunEvent,
  type RunRef,
  type RunSpec,
} from '@slipway/contracts'
import { eventually } from './wait.ts'

export const ENROLMENT_TOKEN = 'enrolment-token-of-the-tests'

const checks = {
  enrol: compile(EnrolRequest),
  heartbeat: compile(HeartbeatRequest),
  events: compile(EventBatch),
}

/** What an instance sees of the executor-bridge: it checks every call, and counts events as the real one does. */
export class FakeBridge {
  #server: Server | null = null
  #port = 0
  instanceId = randomUUID()
  credential = ''
  enrolments: EnrolRequest[] = []
  heartbeats: RunRef[][] = []
  lostAfterSeconds = 30
  /** Runs that the answers to heartbeats and batches disown. */
  readonly disowned: RunRef[] = []
  /** Takes batches, commits them, and loses every other answer. */
  losesAnswers = false
  #lost = false
  /** Refuses batches for the time being. */
  takesNoEvents = false
  /** What it has, by hash. */
  readonly contents = new Map<string, Buffer>()
  /** Calls for content, in their order. */
  readonly contentCalls: string[] = []
  /** Breaks off so many answers with content in their middle. */
  breaksOff = 0
  /** Waits before it sends content. */
  beforeContent: () => Promise<unknown> | unknown = () => {}
  readonly problems: string[] = []
  /** The events of each deployment under each epoch, as the bridge would have committed them. */
  readonly #received = new Map<string, RunEvent[]>()

  async listen(): Promise<void> {
    const server = createServer((request, response) => {
      const content = /^\/v1\/content\/(\w+)$/.exec(request.url ?? '')?.[1]
      if (content !== undefined) return this.#sendContent(content, request, response)
      this.#answer(request).then(
        ({ status, body }) => {
          if (status === 0) return response.destroy()
          response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
        },
        (error: Error) => {
          this.problems.push(String(error))
          response.writeHead(500).end()
        },
      )
    })
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve))
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
  }

  /** Nobody listens any more; `listen` comes back on the same port. */
  async close(): Promise<void> {
    const server = this.#server
    this.#server = null
    server?.closeAllConnections()
    await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()))
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  events(ref: RunRef): RunEvent[] {
    return this.#received.get(keyOf(ref)) ?? []
  }

  eventsOf<T extends RunEvent['type']>(ref: RunRef, type: T): Extract<RunEvent, { type: T }>[] {
    return this.events(ref).filter((event): event is Extract<RunEvent, { type: T }> => event.type === type)
  }

  lines(ref: RunRef): LogEvent[] {
    return this.eventsOf(ref, 'log')
  }

  /** The text that commands wrote to standard output. */
  output(ref: RunRef): string[] {
    return this.lines(ref)
      .filter(({ stream }) => stream === 'stdout')
      .map(({ text }) => text)
  }

  finished(ref: RunRef, limitMs?: number) {
    const finished = () => {
      // Not by looking at all events again and again: there may be many.
      const last = this.events(ref).at(-1)
      return last?.type === 'finished' && last
    }
    return eventually(`run ${keyOf(ref)} finishes`, finished, limitMs)
  }

  /** Hands a run to the instance, as the bridge does. */
  async handOver(spec: RunSpec): Promise<Response> {
    return this.call('POST', '/v1/runs', spec)
  }

  async stop(ref: RunRef, reason = 'cancelled'): Promise<Response> {
    return this.call('POST', `/v1/runs/${ref.deployment_id}/stop`, { epoch: ref.epoch, reason })
  }

  call(method: string, path: string, body?: unknown, token = this.#enrolled.callback_token): Promise<Response> {
    return fetch(`${this.#enrolled.base_url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }

  get #enrolled(): EnrolRequest {
    const last = this.enrolments.at(-1)
    if (!last) throw new Error('No instance has enrolled')
    return last
  }

  async #answer(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
    const body: unknown = JSON.parse(await text(request))
    const path = request.url ?? ''
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    if (path === '/v1/instances') return this.#enrol(token, body)
    if (token !== this.credential) return refusal(401, 'INVALID_CREDENTIALS')
    if (path === `/v1/instances/${this.instanceId}/heartbeat`) return this.#heartbeat(body)
    const deploymentId = /^\/v1\/runs\/([0-9a-f-]{36})\/events$/.exec(path)?.[1]
    return deploymentId === undefined ? refusal(404, 'NOT_FOUND') : this.#takeEvents(deploymentId, body)
  }

  addContent(bytes: Buffer): string {
    const id = createHash('sha256').update(bytes).digest('hex')
    this.contents.set(id, bytes)
    return id
  }

  #sendContent(id: string, { headers }: IncomingMessage, response: ServerResponse): void {
    this.contentCalls.push(id)
    const bytes = this.contents.get(id)
    if (headers.authorization !== `Bearer ${this.credential}`) this.problems.push('content without the credential')
    if (bytes === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end(JSON.stringify(refusal(404, 'NOT_FOUND').body))
      return
    }
    void Promise.resolve(this.beforeContent()).then(() => {
      response.writeHead(200, { 'content-length': bytes.length })
      if (this.breaksOff === 0) return response.end(bytes)
      this.breaksOff -= 1
      return response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy())
    })
  }

  #enrol(token: string | undefined, body: unknown) {
    if (token !== ENROLMENT_TOKEN) return refusal(401, 'INVALID_CREDENTIALS')
    this.#check('enrol', body)
    this.enrolments.push(body as EnrolRequest)
    this.credential = `credential-${randomUUID()}`
    const { instanceId: instance_id, credential, lostAfterSeconds: lost_after_seconds } = this
    return { status: 201, body: { instance_id, credential, heartbeat_seconds: 1, lost_after_seconds } }
  }

  #heartbeat(body: unknown) {
    this.#check('heartbeat', body)
    const { runs } = body as HeartbeatRequest
    this.heartbeats.push(runs)
    return { status: 200, body: { stop: runs.filter((run) => this.#isDisowned(run)) } }
  }

  #takeEvents(deployment_id: string, body: unknown) {
    if (this.takesNoEvents) return refusal(503, 'SERVICE_UNAVAILABLE')
    this.#check('events', body)
    const { epoch, first_event, events } = body as EventBatch
    const ref = { deployment_id, epoch }
    if (this.#isDisowned(ref)) return refusal(409, 'FENCED')
    const received = this.events(ref)
    this.#received.set(keyOf(ref), received)
    const next = received.length
    if (first_event <= next) received.push(...events.slice(next - first_event))
    this.#lost = this.losesAnswers && !this.#lost
    return { status: this.#lost ? 0 : 200, body: { next_event: received.length } }
  }

  #check(kind: keyof typeof checks, body: unknown): void {
    for (const { path, message } of checks[kind](body)) this.problems.push(`${kind}: ${path} ${message}`)
  }

  #isDisowned(run: RunRef): boolean {
    return this.disowned.some((ref) => keyOf(ref) === keyOf(run))
  }
}

function keyOf({ deployment_id, epoch }: RunRef): string {
  return `${deployment_id}/${epoch}`
}

function refusal(status: number, code: string) {
  return { status, body: { error: { code, message: `refused by the test: ${code}` } } }
}

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
