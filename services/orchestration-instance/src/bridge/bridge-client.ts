import {
  compile,
  type EnrolRequest,
  EnrolResponse,
  EventBatchResponse,
  type HeartbeatRequest,
  HeartbeatResponse,
} from '@slipway/contracts'
import { postJson } from '@slipway/runtime'

const TIMEOUT_MS = 10_000
const HEARTBEAT_TIMEOUT_MS = 4_000
const IDLE_MS = 60_000

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

/** Speaks with the executor-bridge over HTTP. */
export class BridgeClient {
  readonly #baseUrl: string

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl.replace(/\/+$/, '')
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

  /** Content as it comes. Throws when nothing has come for a minute. */
  async content(id: string, credential: string): Promise<{ size: number; bytes: AsyncIterable<Uint8Array> }> {
    const abort = new AbortController()
    const idle = setTimeout(() => abort.abort(new Error('nothing came for a minute')), IDLE_MS)
    try {
      const response = await fetch(`${this.#baseUrl}/v1/content/${id}`, {
        headers: { authorization: `Bearer ${credential}` },
        redirect: 'error',
        signal: abort.signal,
      })
      if (!response.ok) throw refusal(response.status, await response.json().catch(() => null))
      const size = Number(response.headers.get('content-length') ?? 0)
      return { size, bytes: piecesOf(response.body, idle) }
    } catch (error) {
      clearTimeout(idle)
      throw error
    }
  }

  async #post<T>(
    path: string,
    token: string,
    body: string,
    timeoutMs: number,
    check: (value: unknown) => { path: string; message: string }[],
  ): Promise<T> {
    const { status, body: given } = await postJson({
      url: `${this.#baseUrl}${path}`,
      to: 'the bridge',
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

async function* piecesOf(body: ReadableStream<Uint8Array> | null, idle: NodeJS.Timeout): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body ?? []) {
      idle.refresh()
      yield piece
    }
  } finally {
    clearTimeout(idle)
  }
}

function refusal(status: number, answer: unknown): Error {
  const error = (answer as { error?: { code?: unknown; message?: unknown } } | null)?.error
  const message = typeof error?.message === 'string' ? error.message : `the bridge answered ${status}`
  if (status === 401) return new UnauthorizedError(message)
  if (status === 409 && error?.code === 'FENCED') return new FencedError(message)
  return new BridgeError(status, message)
}
