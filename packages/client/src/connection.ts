import { setTimeout as sleep } from 'node:timers/promises'
import {
  type LoginAnswer,
  type LoginRequest,
  type LoginResponse,
  OPERATIONS,
  type OperationId,
  type Static,
} from '@slipway/contracts'
import { ApiError, ConnectionError } from './api-error.ts'

export interface ConnectionOptions {
  /** For example `http://127.0.0.1:8080`; paths below it begin with `/api/v1`. */
  baseUrl: string
  /** An access token or an API key. */
  token?: string
  /** Used to log in, and to log in again when the access token has expired. */
  credentials?: Static<typeof LoginRequest>
  /** How long one answer may take, in milliseconds; 30,000 unless given. */
  timeoutMs?: number
  /**
   * How long reads, and requests that never arrived, are tried again while the server is away, in milliseconds;
   * 0 unless given.
   */
  retryForMs?: number
}

export interface CallInput {
  params?: Record<string, string>
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
}

const PREFIX = '/api/v1'
const RETRY_MS = 500

/** Requests to one server as one user. */
export class Connection {
  readonly baseUrl: string
  /** May be changed at any time, for example once it is known that the server is there. */
  retryForMs: number
  readonly #timeoutMs: number
  readonly #credentials: Static<typeof LoginRequest> | undefined
  #token: string | undefined

  constructor(options: ConnectionOptions) {
    this.baseUrl = options.baseUrl.replace(/\/+$/, '')
    this.retryForMs = options.retryForMs ?? 0
    this.#timeoutMs = options.timeoutMs ?? 30_000
    this.#credentials = options.credentials
    this.#token = options.token
  }

  /** Exchanges e-mail and password for an access token, which later requests carry. Throws ApiError on a refusal. */
  async login(): Promise<Static<typeof LoginResponse>> {
    if (!this.#credentials) throw new Error('There is nothing to log in with: give e-mail and password, or a token')
    const answer = await this.#answer('login', { body: this.#credentials })
    const login = (await answer.json()) as Static<typeof LoginAnswer>
    if ('requires_2fa' in login) {
      throw new Error('This account has a second factor: make an API key for it, and give that as the token')
    }
    this.#token = login.access_token
    return login
  }

  /** One operation of the API; resolves to its answer's body. Throws ApiError on a refusal, else ConnectionError. */
  async call<T>(operation: OperationId, input: CallInput = {}): Promise<T> {
    const response = await this.#persist(operation, () => this.#authenticated(operation, input))
    const text = await response.text()
    return (text === '' ? undefined : JSON.parse(text)) as T
  }

  /** Opens a stream of events, which is authenticated by a token in its query; `signal` ends it. */
  async openStream(operation: OperationId, input: CallInput, signal: AbortSignal): Promise<Response> {
    return await this.#answer(operation, input, signal, { accept: 'text/event-stream' })
  }

  async #authenticated(operation: OperationId, input: CallInput): Promise<Response> {
    if (this.#token === undefined && this.#credentials) await this.login()
    try {
      return await this.#answer(operation, input)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'TOKEN_EXPIRED' || !this.#credentials) throw error
      await this.login()
      return await this.#answer(operation, input)
    }
  }

  async #persist(operation: OperationId, attempt: () => Promise<Response>): Promise<Response> {
    const reads = OPERATIONS[operation].method === 'GET'
    const end = Date.now() + this.retryForMs
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        const again =
          error instanceof ConnectionError
            ? reads || error.refused
            : reads && error instanceof ApiError && error.passing
        if (!again || Date.now() + RETRY_MS > end) throw error
        await sleep(RETRY_MS)
      }
    }
  }

  async #answer(
    operation: OperationId,
    { params = {}, query = {}, body }: CallInput,
    signal: AbortSignal = AbortSignal.timeout(this.#timeoutMs),
    headers: Record<string, string> = { accept: 'application/json' },
  ): Promise<Response> {
    const { method, path, access } = OPERATIONS[operation]
    const url = new URL(this.baseUrl + PREFIX + path.replace(/\{(\w+)\}/g, (_, name) => parameter(params, name)))
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    if (access !== 'public' && access !== 'sse' && this.#token !== undefined) {
      headers = { ...headers, authorization: `Bearer ${this.#token}` }
    }
    if (body !== undefined) headers = { ...headers, 'content-type': 'application/json' }
    const request = { method, headers, signal, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await fetch(url, request).catch((error: unknown) => {
      throw new ConnectionError(this.baseUrl, error)
    })
    if (!response.ok) throw await ApiError.from(response)
    return response
  }
}

function parameter(params: Record<string, string>, name: string): string {
  const value = params[name]
  if (value === undefined) throw new Error(`The path needs a value for {${name}}`)
  return encodeURIComponent(value)
}
