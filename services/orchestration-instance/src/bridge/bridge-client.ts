import { text } from 'node:stream/consumers'
import {
  CredentialResponse,
  compile,
  EventBatchResponse,
  type JoinRequest,
  JoinResponse,
  type PartialLines,
  type RunRef,
  type SyncRequest,
  SyncResponse,
} from '@slipway/contracts'
import type { BridgeConnections } from '@slipway/runtime'

const TIMEOUT_MS = 10_000
/** How long the bridge may take to commit a heartbeat, and how long a sync may be silent. The bridge sends a byte each second. */
const SILENT_SYNC_MS = 4_000
/** How long an answer to a sync may take after its `wait_seconds`. */
const ANSWER_MS = 10_000
/** The bridge builds the specification of 10,000 targets before it sends the first byte. */
const SPEC_IDLE_MS = 30_000
const MAX_SYNC_BYTES = 64 * 1024 * 1024
const IDLE_MS = 60_000
const REFUSAL_BYTES = 64 * 1024

const checkJoined = compile(JoinResponse)
const checkCredential = compile(CredentialResponse)
const checkSync = compile(SyncResponse)
const checkEvents = compile(EventBatchResponse)

/** The bridge refused the credential or the token. */
export class UnauthorizedError extends Error {
  override name = 'UnauthorizedError'
  /** Whether an administrator has removed this instance. */
  readonly isRemoved: boolean

  constructor(message: string, { isRemoved = false } = {}) {
    super(message)
    this.isRemoved = isRemoved
  }
}

/** The lease of the run has ended. */
export class FencedError extends Error {
  override name = 'FencedError'
}

/** Any other refusal, with the message of the bridge if the answer has one. */
export class BridgeError extends Error {
  override name = 'BridgeError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export interface PostedBatch {
  first: number
  /** The events as a JSON array. */
  events: string
  /** Whether the run was stopped: then the bridge stores the log lines and ignores all other events. */
  afterStop: boolean
}

export class BridgeClient {
  readonly #baseUrl: string
  readonly #connections: BridgeConnections

  readonly #silentSyncMs: number

  constructor(baseUrl: string, connections: BridgeConnections, { silentSyncMs = SILENT_SYNC_MS } = {}) {
    this.#silentSyncMs = silentSyncMs
    this.#baseUrl = baseUrl.replace(/\/+$/, '')
    this.#connections = connections
  }

  join(request: JoinRequest, token: string): Promise<JoinResponse> {
    return this.#post('/v1/instances', token, JSON.stringify(request), TIMEOUT_MS, checkJoined)
  }

  newCredential(credential: string): Promise<CredentialResponse> {
    return this.#post('/v1/instances/credential', credential, '{}', TIMEOUT_MS, checkCredential)
  }

  /** Resolves when the heartbeat is committed. `body` resolves when there is something to do or the wait is over. */
  async sync(credential: string, request: SyncRequest, signal: AbortSignal): Promise<{ body: Promise<SyncResponse> }> {
    const { status, body } = await this.#connections.post({
      url: `${this.#baseUrl}/v1/sync`,
      token: credential,
      body: JSON.stringify(request),
      purpose: 'sync',
      timeoutMs: this.#silentSyncMs,
      idleMs: this.#silentSyncMs,
      endingMs: request.wait_seconds * 1_000 + ANSWER_MS,
      maxAnswerBytes: MAX_SYNC_BYTES,
      signal,
    })
    const answer = body.then((bytes) => checked(status, bytes, checkSync) as SyncResponse)
    if (status !== 200) await answer
    answer.catch(() => {})
    return { body: answer }
  }

  /** Gets a specification that was too large for the answer to a sync, unvalidated; null if the run need not start any more. */
  async spec({ deployment_id, epoch }: RunRef, credential: string): Promise<unknown> {
    const url = `${this.#baseUrl}/v1/runs/${deployment_id}/spec?epoch=${epoch}`
    const { status, body } = await this.#connections.download({ url, token: credential, idleMs: SPEC_IDLE_MS })
    if (status === 200) return parsed(await text(body))
    const answer = parsed(await beginningOf(body))
    if (status === 404) return null
    throw refusal(status, answer)
  }

  events(deploymentId: string, credential: string, epoch: number, { first, events, afterStop }: PostedBatch) {
    const flag = afterStop ? ',"after_stop":true' : ''
    const body = `{"epoch":${epoch},"first_event":${first},"events":${events}${flag}}`
    return this.#post<EventBatchResponse>(`/v1/runs/${deploymentId}/events`, credential, body, TIMEOUT_MS, checkEvents)
  }

  async partialLines(deploymentId: string, credential: string, lines: PartialLines): Promise<void> {
    const path = `/v1/runs/${deploymentId}/partial-lines`
    await this.#post(path, credential, JSON.stringify(lines), TIMEOUT_MS, () => [])
  }

  /** Streams content. Reading throws after a minute without bytes. */
  async content(id: string, credential: string): Promise<{ size: number; bytes: AsyncIterable<Uint8Array> }> {
    const url = `${this.#baseUrl}/v1/content/${id}`
    const { status, headers, body } = await this.#connections.download({ url, token: credential, idleMs: IDLE_MS })
    if (status !== 200) throw refusal(status, parsed(await beginningOf(body)))
    return { size: Number(headers['content-length'] ?? 0), bytes: body }
  }

  async #post<T>(
    path: string,
    token: string,
    body: string,
    timeoutMs: number,
    check: (value: unknown) => { path: string; message: string }[],
  ): Promise<T> {
    const { status, body: given } = await this.#connections.post({
      url: `${this.#baseUrl}${path}`,
      token,
      body,
      timeoutMs,
    })
    return checked(status, await given, check) as T
  }
}

function checked(
  status: number,
  bytes: Buffer,
  check: (value: unknown) => { path: string; message: string }[],
): unknown {
  const answer = parsed(bytes.toString('utf8'))
  if (status < 200 || status >= 300) throw refusal(status, answer)
  const problem = check(answer)[0]
  if (problem)
    throw new BridgeError(status, `the answer of the bridge is not valid: ${problem.path} ${problem.message}`)
  return answer
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Reads enough of an answer for its error message. */
async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body) {
    pieces.push(piece)
    size += piece.length
    if (size >= REFUSAL_BYTES) break
  }
  return Buffer.concat(pieces).toString('utf8')
}

function refusal(status: number, answer: unknown): Error {
  const error = (answer as { error?: { code?: unknown; message?: unknown } } | null)?.error
  const message = typeof error?.message === 'string' ? error.message : `the bridge answered ${status}`
  if (status === 401) return new UnauthorizedError(message, { isRemoved: error?.code === 'INSTANCE_REMOVED' })
  if (status === 409 && error?.code === 'FENCED') return new FencedError(message)
  return new BridgeError(status, message)
}
