import { randomUUID } from 'node:crypto'
import { uptime } from '../clock.ts'
import type { Call, Ledger } from '../ledger.ts'

/** The documented bound is 10 s; a client waits longer, so that a late answer is seen. */
const PATIENCE_MS = 20_000

export interface Answer {
  /** Null without an answer. */
  status: number | null
  // biome-ignore lint/suspicious/noExplicitAny: the clients look into answers whose form they expect
  body: any
}

export interface CallOptions {
  body?: unknown
  key?: string | null
  gateway?: number
  /** When the client goes away. */
  patienceMs?: number
  facts?: Record<string, unknown>
}

/** Calls the API like a pipeline, and records each call. */
export class Client {
  readonly #urls: readonly string[]
  readonly #token: string
  readonly #ledger: Pick<Ledger, 'add'>
  readonly #patienceMs: number
  #next = 0

  constructor(urls: readonly string[], token: string, ledger: Pick<Ledger, 'add'>, patience = 1) {
    this.#urls = urls
    this.#token = token
    this.#ledger = ledger
    this.#patienceMs = PATIENCE_MS * patience
  }

  get ledger(): Pick<Ledger, 'add'> {
    return this.#ledger
  }

  /** Uses the gateways in turn, as a load balancer does. Never throws. */
  async call(purpose: Call['purpose'], method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const { body, key = null, facts = {}, patienceMs = this.#patienceMs } = options
    this.#next += 1
    const gateway = options.gateway ?? this.#next % this.#urls.length
    const requestId = randomUUID()
    const sentAt = uptime()
    let answer: Answer = { status: null, body: null }
    let failure: string | null = null
    try {
      const response = await fetch(`${this.#urls[gateway]}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.#token}`,
          'x-request-id': requestId,
          ...(key === null ? {} : { 'idempotency-key': key }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(patienceMs),
      })
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.includes('json') === true
      answer = { status: response.status, body: text === '' ? null : isJson ? JSON.parse(text) : text }
    } catch (error) {
      failure = causeOf(error)
    }
    this.#ledger.add({
      type: 'call',
      purpose,
      gateway,
      method,
      path,
      requestId,
      key,
      sentAt,
      answeredAt: uptime(),
      status: answer.status,
      code: answer.body?.error?.code ?? null,
      message: failure ?? answer.body?.error?.message ?? null,
      id: idOf(answer),
      facts,
    })
    return answer
  }

  /** Opens a stream. Null if it could not be opened. */
  async stream(path: string, gateway: number, signal: AbortSignal): Promise<Response | null> {
    try {
      const response = await fetch(`${this.#urls[gateway]}/api/v1${path}`, { signal })
      if (response.status === 200) return response
      await response.body?.cancel()
      return null
    } catch {
      return null
    }
  }
}

const causeOf = (error: unknown) => {
  const { message, cause } = error as Error
  return `${message}${cause instanceof Error ? `: ${cause.message}` : ''}`
}

/** The item that the call has created or read; the first item of a list. */
function idOf({ status, body }: Answer): string | null {
  if (status === null || status >= 300 || body === null || typeof body !== 'object') return null
  const [first] = Array.isArray(body) ? body : Array.isArray(body.data) ? body.data : [body]
  return first?.deployment_id ?? first?.pending_request_id ?? first?.id ?? null
}
