import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  compile,
  EventBatch,
  JoinRequest,
  type LogEvent,
  type PartialLine,
  PartialLines,
  type ProbeTarget,
  type RunEvent,
  type RunRef,
  type RunSpec,
  type StopReason,
  SyncRequest,
  type SyncResponse,
} from '@slipway/contracts'
import { SLIPWAY_VERSION } from '@slipway/runtime'
import { eventually } from './wait.ts'

export const JOIN_TOKEN = 'join-token-of-the-tests'

const checks = {
  join: compile(JoinRequest),
  sync: compile(SyncRequest),
  events: compile(EventBatch),
  partialLines: compile(PartialLines),
}

/** The part of the executor-bridge that an instance calls. It checks every call and counts events as the bridge does. */
export class FakeBridge {
  #server: Server | null = null
  #port = 0
  instanceId = randomUUID()
  credential = ''
  /** A new credential that the instance has not used yet. */
  nextCredential: string | null = null
  /** The tokens with which instances can join. */
  joinTokens = new Set([JOIN_TOKEN])
  joins: JoinRequest[] = []
  /** The number of calls to join, with the refused ones. */
  joinCalls = 0
  /** The answer that refuses all joins while it is set. */
  refusesJoins: { status: number; code: string } | null = null
  /** Loses the answer to the next join or the next call for a credential after its effect. */
  losesNextAnswer = false
  /** An administrator has removed the instance. */
  isRemoved = false
  /** Refuses every credential, as the bridge of another database does. */
  knowsNobody = false
  /** The number of syncs with a refused credential. */
  refusedSyncs = 0
  /** The bodies of all syncs. */
  syncs: SyncRequest[] = []
  /** The runs that the instance must have until they end there. */
  readonly #wanted = new Map<string, RunSpec>()
  readonly #stopped = new Map<string, StopReason>()
  /** Ends the waiting syncs. */
  #changed: () => void = () => {}
  #change = new Promise<void>((resolve) => {
    this.#changed = resolve
  })
  /** Leaves specifications out of syncs, so that the instance fetches them by a separate call. */
  holdsBackSpecs = false
  /** Targets to probe. Each is sent once. */
  toProbe: ProbeTarget[] = []
  lostAfterSeconds = 30
  /** How long a sync waits. It is shorter than the wait of the bridge, so that tests are faster. */
  syncWaitMs = 1_000
  /** The version in its answers. */
  version = SLIPWAY_VERSION
  /** Runs that the answers to syncs and batches disown. */
  readonly disowned: RunRef[] = []
  /** Accepts batches and loses every second answer. */
  losesAnswers = false
  #lost = false
  /** Refuses batches while it is set. */
  takesNoEvents = false
  /** The number of batches that `takesNoEvents` refused. */
  untakenBatches = 0
  /** The stored content, by hash. */
  readonly contents = new Map<string, Buffer>()
  /** The hashes of all calls for content, in order. */
  readonly contentCalls: string[] = []
  /** The number of answers with content to break off in the middle. */
  breaksOff = 0
  /** Awaited before content is sent. */
  beforeContent: () => Promise<unknown> | unknown = () => {}
  readonly partialLines: PartialLine[] = []
  readonly problems: string[] = []
  /** The events of each deployment under each epoch, as the bridge would have committed them. */
  readonly #received = new Map<string, RunEvent[]>()

  async listen(): Promise<void> {
    const server = createServer((request, response) => {
      if (request.url === '/v1/sync') return void this.#sync(request, response)
      const spec = /^\/v1\/runs\/([0-9a-f-]{36})\/spec\?epoch=(\d+)$/.exec(request.url ?? '')
      if (spec) return this.#sendSpec(`${spec[1]}/${spec[2]}`, response)
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

  /** Stops the server. `listen` starts it again on the same port. */
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

  /** Waits as long as events come: how many a machine manages in a time says nothing about the instance. */
  async finished(ref: RunRef) {
    for (;;) {
      const { length } = this.events(ref)
      const last = this.events(ref).at(-1)
      if (last?.type === 'finished') return last
      await eventually(`run ${keyOf(ref)} goes on`, () => this.events(ref).length > length)
    }
  }

  /** Starts a run on the instance, as the bridge does, and waits until the instance reports the run or refuses it. */
  async startRun(spec: RunSpec): Promise<void> {
    this.#wanted.set(keyOf(spec), spec)
    this.#wake()
    const isKnown = ({ runs, refused, declined }: SyncRequest) =>
      [...runs, ...refused, ...declined].some((run) => keyOf(run) === keyOf(spec))
    const before = this.syncs.length
    await eventually(`the instance takes run ${keyOf(spec)}`, () => {
      return this.syncs.slice(before).some(isKnown) || this.events(spec).length > 0
    })
  }

  /** Ends the lease of a run, as a cancel does. */
  stop(ref: RunRef, reason: StopReason = 'cancelled'): void {
    this.#stopped.set(keyOf(ref), reason)
    this.#wake()
  }

  /** The report of the instance about a stopped run. Undefined before the report. */
  stopReport(ref: RunRef) {
    return this.syncs.flatMap(({ stopped }) => stopped).find((run) => keyOf(run) === keyOf(ref))
  }

  #wake(): void {
    this.#changed()
    this.#change = new Promise((resolve) => {
      this.#changed = resolve
    })
  }

  async #answer(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
    const body: unknown = JSON.parse(await text(request))
    const path = request.url ?? ''
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    if (path === '/v1/instances') return this.#join(token, body)
    const refused = this.#refuses(token)
    if (refused) return refused
    if (path === '/v1/instances/credential') return this.#giveCredential()
    if (/^\/v1\/runs\/[0-9a-f-]{36}\/partial-lines$/.test(path)) return this.#takePartialLines(body)
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

  #takePartialLines(body: unknown) {
    this.#check('partialLines', body)
    this.partialLines.push(...(body as PartialLines).lines)
    return { status: 200, body: {} }
  }

  #join(token: string | undefined, body: unknown) {
    this.joinCalls += 1
    if (token === undefined || !this.joinTokens.has(token)) return refusal(401, 'UNAUTHORIZED')
    if (this.refusesJoins) return refusal(this.refusesJoins.status, this.refusesJoins.code)
    this.#check('join', body)
    this.joins.push(body as JoinRequest)
    this.credential = `credential-${randomUUID()}`
    this.nextCredential = null
    this.isRemoved = false
    const { instanceId: instance_id, credential, lostAfterSeconds: lost_after_seconds } = this
    return { status: this.#answerStatus(201), body: { instance_id, credential, lost_after_seconds } }
  }

  #giveCredential() {
    this.nextCredential = `credential-${randomUUID()}`
    return { status: this.#answerStatus(200), body: { credential: this.nextCredential } }
  }

  #answerStatus(status: number): number {
    if (!this.losesNextAnswer) return status
    this.losesNextAnswer = false
    return 0
  }

  /** Accepts the credential and the next one. The first use of the next one replaces the former one. */
  #refuses(credential: string | undefined) {
    if (this.knowsNobody) return refusal(401, 'UNAUTHORIZED')
    if (this.isRemoved) return refusal(401, 'INSTANCE_REMOVED')
    if (credential !== undefined && credential === this.nextCredential) {
      this.credential = credential
      this.nextCredential = null
    }
    return credential === this.credential ? null : refusal(401, 'UNAUTHORIZED')
  }

  async #sync(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: unknown = JSON.parse(await text(request))
    response.setHeader('content-type', 'application/json')
    const refused = this.#refuses(/^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1])
    if (refused) {
      this.refusedSyncs += 1
      response.writeHead(401).end(JSON.stringify(refused.body))
      return
    }
    this.#check('sync', body)
    const said = body as SyncRequest
    this.syncs.push(said)
    response.writeHead(200).flushHeaders()
    const over = new Promise<void>((resolve) => {
      setTimeout(resolve, Math.min(said.wait_seconds * 1_000, this.syncWaitMs))
      response.on('close', resolve)
    })
    let isOver = false
    void over.then(() => {
      isOver = true
    })
    for (;;) {
      const change = this.#change
      const answer = this.#difference(said)
      if (isOver || answer.start.length + answer.stop.length + answer.probes.length > 0) {
        response.end(JSON.stringify(answer))
        return
      }
      await Promise.race([change, over])
    }
  }

  #difference({ runs, refused, declined, probe_slots }: SyncRequest): SyncResponse {
    const held = new Set(runs.map(keyOf))
    for (const run of [...refused, ...declined]) this.#wanted.delete(keyOf(run))
    const isOpen = (spec: RunSpec) => !this.#isDisowned(spec) && this.events(spec).length === 0
    const missing = [...this.#wanted.values()].filter((spec) => !held.has(keyOf(spec)) && isOpen(spec))
    return {
      version: this.version,
      lost_after_seconds: this.lostAfterSeconds,
      start: missing.map((spec) => {
        const { deployment_id, epoch } = spec
        return { deployment_id, epoch, spec: this.holdsBackSpecs ? null : spec }
      }),
      stop: runs
        .filter((run) => this.#isDisowned(run))
        .map((run) => {
          const { deployment_id, epoch } = run
          return { deployment_id, epoch, reason: this.#stopped.get(keyOf(run)) ?? 'lost' }
        }),
      probes: probe_slots > 0 ? this.toProbe.splice(0) : [],
    }
  }

  #sendSpec(key: string, response: ServerResponse): void {
    const spec = this.#wanted.get(key)
    response.writeHead(spec ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(spec ?? refusal(404, 'NOT_FOUND').body))
  }

  #takeEvents(deployment_id: string, body: unknown) {
    if (this.takesNoEvents) {
      this.untakenBatches += 1
      return refusal(503, 'SERVICE_UNAVAILABLE')
    }
    this.#check('events', body)
    const { epoch, first_event, events, after_stop } = body as EventBatch
    const ref = { deployment_id, epoch }
    const takesLastOutput = after_stop === true && this.#stopped.has(keyOf(ref)) && this.stopReport(ref) === undefined
    if (this.#isDisowned(ref) && !takesLastOutput) return refusal(409, 'FENCED')
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
    return this.#stopped.has(keyOf(run)) || this.disowned.some((ref) => keyOf(ref) === keyOf(run))
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
