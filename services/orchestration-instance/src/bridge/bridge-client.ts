import {
  compile,
  type EnrolRequest,
  EnrolResponse,
  EventBatchResponse,
  type HeartbeatRequest,
  HeartbeatResponse,
} from '@slipway/contracts'
import type { BridgeConnections } from '@slipway/runtime'

const TIMEOUT_MS = 10_000
const HEARTBEAT_TIMEOUT_MS = 4_000
const IDLE_MS = 60_000
const REFUSAL_BYTES = 64 * 1024

const checkEnrolled = compile(EnrolResponse)
const checkHeartbeat = compile(HeartbeatResponse)
const checkEvents = compile(EventBatchResponse)

/** The bridge does not know our credential: enrol again. */
export class UnauthorizedError extends Error {
  override name = 'UnauthorizedError'
}

/** The run belongs to somebody else by now. */
export class FencedError extends Error {
  override name = 'FencedError'
}

/** Any other refusal. The message is the bridge's own where it gave one. */
export class BridgeError extends Error {
  override name = 'BridgeError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Speaks with the executor-bridge over HTTP or HTTPS. */
export class BridgeClient {
  readonly #baseUrl: string
  readonly #connections: BridgeConnections

  constructor(baseUrl: string, connections: BridgeConnections) {
    this.#baseUrl = baseUrl.replace(/\/+$/, '')
    this.#connections = connections
  }

  enrol(request: EnrolRequest, enrolmentToken: string): Promise<EnrolResponse> {
    return this.#post('/v1/instances', enrolmentToken, JSON.stringify(request), TIMEOUT_MS, checkEnrolled)
  }

  heartbeat(instanceId: string, credential: string, request: HeartbeatRequest): Promise<HeartbeatResponse> {
    const path = `/v1/instances/${instanceId}/heartbeat`
    return this.#post(path, credential, JSON.stringify(request), HEARTBEAT_TIMEOUT_MS, checkHeartbeat)
  }

  /** `events` is the JSON text of the array. */
  events(deploymentId: string, credential: string, batch: { epoch: number; first: number; events: string }) {
    const body = `{"epoch":${batch.epoch},"first_event":${batch.first},"events":${batch.events}}`
    return this.#post<EventBatchResponse>(`/v1/runs/${deploymentId}/events`, credential, body, TIMEOUT_MS, checkEvents)
  }

  /** Content as it comes. Reading it throws when nothing has come for a minute. */
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
    const answer = parsed((await given).toString('utf8'))
    if (status < 200 || status >= 300) throw refusal(status, answer)
    const problem = check(answer)[0]
    if (problem) throw new BridgeError(status, `the bridge's answer is wrong: ${problem.path} ${problem.message}`)
    return answer as T
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Enough of an answer for its error message. */
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
  if (status === 401) return new UnauthorizedError(message)
  if (status === 409 && error?.code === 'FENCED') return new FencedError(message)
  return new BridgeError(status, message)
}
