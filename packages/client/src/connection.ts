import { AnswerMemory } from './answer-memory.ts'
import {
  ApiError,
  AuthenticationError,
  ConnectionError,
  NotSlipwayError,
  RateLimitError,
  refusalOf,
  TokenExchangeError,
} from './errors.ts'
import { ROUTES } from './generated/routes.ts'
import {
  type Credentials,
  createMemoryStore,
  type LoginCode,
  refreshTokenOf,
  type ServiceAccount,
  type Session,
  type SessionStore,
} from './session.ts'
import { sleep } from './sleep.ts'
import type { Answer, CallOptions, OperationId, Schema } from './types.ts'

export interface ConnectionOptions {
  /** Such as `http://127.0.0.1:8080`. */
  url: string
  /** An API key or an access token. Default: the session, or `credentials`. */
  token?: string
  /** For a login without a session, or after the session has ended. */
  credentials?: Credentials
  /** For a pipeline. Its access token is renewed before it ends. */
  serviceAccount?: ServiceAccount
  /** The store for the session of a login. Default: memory. */
  sessions?: SessionStore
  /**
   * For a browser on the server's own origin: the browser keeps the refresh token in a cookie. Pass `navigator.locks`. Without
   * the lock, two tabs can renew the session at the same time, and the server takes the second renewal for a theft.
   */
  cookies?: Locks
  /** Called if a call finds that the session has ended and cannot be renewed. */
  onSessionEnd?: () => void
  /** Sends the requests, for example through a proxy. Default: the global `fetch`. */
  fetch?: typeof fetch
  /** The timeout of one answer, in milliseconds. Default: 30,000. */
  timeoutMs?: number
  /** How long to retry a request that is safe to repeat, in milliseconds. Default: 30,000. */
  retryForMs?: number
  /**
   * How many of the latest answers of reads are kept, so that the server sends only what has changed. A read without a change
   * resolves to the same object as before, so callers must not change it. Default: 0. The end of the session forgets all.
   */
  rememberAnswers?: number
}

export interface Request extends CallOptions {
  params?: Record<string, string>
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
}

/** The Web Locks API, or something like it. */
export interface Locks {
  request<T>(name: string, work: () => Promise<T>): Promise<T>
}

interface Route {
  method: string
  path: string
  bearer?: true
  idempotencyKey?: true
  /** The body is bytes, not JSON. */
  binary?: true
}

const NOT_MODIFIED = 304

const RETRY_FROM_MS = 200
const RETRY_TO_MS = 5_000
/** The limit for retries before a first answer, because the address may be wrong. */
const FIRST_CONTACT_MS = 2_000
const RENEWED_ELSEWHERE_MS = 300
/** A call of a service account must not meet the end of its access token. */
const RENEW_BEFORE_END_MS = 60_000

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const JWT = 'urn:ietf:params:oauth:token-type:jwt'

/** Requests to one server as one user: authentication and retries. */
export class Connection {
  readonly url: string
  readonly #fetch: typeof fetch | undefined
  readonly #timeoutMs: number
  readonly #retryForMs: number
  readonly #token: string | undefined
  readonly #credentials: Credentials | undefined
  readonly #serviceAccount: ServiceAccount | undefined
  readonly #sessions: SessionStore
  readonly #cookies: Locks | undefined
  readonly #onSessionEnd: (() => void) | undefined
  readonly #memory: AnswerMemory
  #renewing: Promise<void> | undefined
  #answered = false

  constructor(options: ConnectionOptions) {
    this.url = options.url.replace(/\/+$/, '')
    this.#fetch = options.fetch
    this.#timeoutMs = options.timeoutMs ?? 30_000
    this.#retryForMs = options.retryForMs ?? 30_000
    this.#token = options.token
    this.#credentials = options.credentials
    this.#serviceAccount = options.serviceAccount
    this.#sessions = options.sessions ?? createMemoryStore()
    this.#cookies = options.cookies
    this.#onSessionEnd = options.onSessionEnd
    this.#memory = new AnswerMemory(options.rememberAnswers ?? 0)
  }

  /** Calls an operation and resolves to the body of the answer. Throws ApiError after a refusal, else ConnectionError. */
  async call<O extends OperationId>(operation: O, request: Request = {}): Promise<Answer<O>> {
    return (await this.exchange(operation, request)).body
  }

  /** Calls an operation with headers in its answer. */
  async exchange<O extends OperationId>(
    operation: O,
    request: Request = {},
  ): Promise<{ body: Answer<O>; headers: Headers }> {
    return await this.#persist(operation, request, (headers) =>
      this.#authenticated(operation, { ...request, headers }, (sent) => this.#ask(operation, sent)),
    )
  }

  /** Opens an answer of any length. It has no timeout: the caller reads its body, or ends it with the signal. */
  async open(operation: OperationId, request: Request): Promise<Response> {
    const send = (sent: Sent) => this.#send(operation, sent, request.signal)
    return await this.#persist(operation, request, (headers) =>
      this.#authenticated(operation, { ...request, headers }, send),
    )
  }

  /** Opens a stream of events until the signal. A token in the query authenticates the stream. */
  async openStream(operation: OperationId, request: Request): Promise<Response> {
    return await this.#send(operation, { ...request, headers: { accept: 'text/event-stream' } }, request.signal)
  }

  async login(credentials: Credentials): Promise<void> {
    this.#memory.forget()
    const { email, password } = credentials
    const login = await this.#ask('login', { body: { email, password } })
    if ('requires_2fa' in login.body) {
      this.#keep(await this.#verifySecondFactor(login.body.pending_token, credentials))
    } else this.#keep({ ...login, body: login.body })
  }

  /** Completes a login in the browser. Returns who logged in. */
  async loginWithCode({ code, verifier }: LoginCode): Promise<Schema<'User'>> {
    this.#memory.forget()
    const login = await this.#ask('exchangeCliCode', { body: { code, code_verifier: verifier } })
    this.#keep(login)
    return login.body.user
  }

  async #verifySecondFactor(
    pending_token: string,
    { code, onWrongCode }: Credentials,
  ): Promise<Answered<'verifyTwoFactor'>> {
    if (!code) throw new Error('This account has a second factor: set `code` in the credentials, or use an API key')
    for (;;) {
      try {
        return await this.#ask('verifyTwoFactor', { body: { code: await code(), pending_token } })
      } catch (error) {
        const isWrong = error instanceof AuthenticationError && error.code === 'INVALID_CREDENTIALS'
        if (!isWrong || !onWrongCode) throw error
        onWrongCode(error)
      }
    }
  }

  /** Ends this session alone. One that has ended is forgotten. */
  async endSession(): Promise<void> {
    const end = async () => {
      const { sessions } = await this.call('listSessions')
      const current = sessions.find(({ is_current }) => is_current)
      if (current === undefined) throw new Error('the server does not know this session: end all with `logout`')
      await this.call('deleteSession', { params: { id: current.id } })
    }
    await end().catch((error: unknown) => {
      if (!(error instanceof AuthenticationError)) throw error
    })
    this.#sessions.save(undefined)
    this.#memory.forget()
  }

  /** Ends all sessions of the user. */
  async logout(): Promise<void> {
    await this.call('logout')
    this.#sessions.save(undefined)
    this.#memory.forget()
  }

  /** Sends a request with the credential, and again with a new one if the session has ended. */
  async #authenticated<T>(operation: OperationId, request: Sent, send: (request: Sent) => Promise<T>): Promise<T> {
    const route: Route = ROUTES[operation]
    if (!route.bearer || this.#token !== undefined) return await send(request)
    const session = this.#sessions.load()
    if (!session) {
      if (!this.#credentials && !this.#serviceAccount && !this.#cookies)
        throw new Error('There is no credential: give a token, or log in')
      await this.#renewOnce(undefined)
      return await send(request)
    }
    // After a failure, the present token still works for a while. The next call tries again.
    if (endsSoon(session)) await this.#renewOnce(session).catch(() => false)
    const used = this.#sessions.load()
    try {
      return await send(request)
    } catch (error) {
      const ended = error instanceof AuthenticationError && /^(TOKEN_EXPIRED|INVALID_TOKEN)$/.test(error.code)
      if (!ended) throw error
      if (!(await this.#renewOnce(used))) {
        this.#memory.forget()
        this.#onSessionEnd?.()
        throw error
      }
      return await send(request)
    }
  }

  /** Renews the session once for all concurrent calls. Returns whether there is a new session. */
  async #renewOnce(ended: Session | undefined): Promise<boolean> {
    this.#renewing ??= this.#renew(ended).finally(() => {
      this.#renewing = undefined
    })
    await this.#renewing
    return this.#sessions.load()?.accessToken !== ended?.accessToken
  }

  async #renew(ended: Session | undefined): Promise<void> {
    if (this.#cookies) {
      // A page that was left during a renewal used up the refresh token; its cookie may arrive a moment after it.
      const renew = async () => {
        const first = await this.#refresh(ended)
        return first === 'spent' ? await this.#refresh(ended) : first
      }
      if ((await this.#cookies.request('slipway-session', renew)) === 'renewed') return
    } else if (ended?.refreshToken !== undefined && (await this.#refresh(ended)) === 'renewed') return
    if (this.#credentials) await this.login(this.#credentials)
    else if (this.#serviceAccount) await this.#exchangeToken(this.#serviceAccount, ended !== undefined)
  }

  async #exchangeToken({ name, getIdToken }: ServiceAccount, isRenewal: boolean): Promise<void> {
    const subject_token = await getIdToken({ isRenewal })
    const body = { grant_type: TOKEN_EXCHANGE, subject_token, subject_token_type: JWT, service_account: name } as const
    const { access_token, expires_in } = await this.#ask('exchangeToken', { body }).then(
      (answer) => answer.body,
      (error: unknown) => {
        throw error instanceof AuthenticationError ? new TokenExchangeError(error) : error
      },
    )
    this.#sessions.save({ accessToken: access_token, expiresAt: Date.now() + expires_in * 1_000 })
  }

  /** Renews the session by the refresh token, or uses the session that another process has renewed in the meantime. */
  async #refresh(ended: Session | undefined): Promise<'renewed' | 'spent' | 'absent'> {
    const renewedElsewhere = () => this.#sessions.load()?.accessToken !== ended?.accessToken
    if (renewedElsewhere()) return 'renewed'
    try {
      const headers = ended?.refreshToken === undefined ? {} : { cookie: `refresh_token=${ended.refreshToken}` }
      this.#keep(await this.#ask('refreshLogin', { headers }))
      return 'renewed'
    } catch (error) {
      if (!(error instanceof AuthenticationError)) throw error
      // The browser has no cookie: nobody is logged in.
      if (error.code === 'UNAUTHORIZED') return 'absent'
      // Another process may have used the refresh token first.
      await sleep(RENEWED_ELSEWHERE_MS)
      return renewedElsewhere() ? 'renewed' : 'spent'
    }
  }

  #keep({ body, headers }: { body: { access_token: string }; headers: Headers }): void {
    this.#sessions.save({ accessToken: body.access_token, refreshToken: refreshTokenOf(headers) })
  }

  async #persist<T>(
    operation: OperationId,
    { signal, idempotencyKey }: Request,
    attempt: (headers: Record<string, string>) => Promise<T>,
  ): Promise<T> {
    const route: Route = findRoute(operation)
    const key = route.idempotencyKey ? (idempotencyKey ?? newKey()) : undefined
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
    const repeatable = route.method === 'GET' || key !== undefined
    const began = performance.now()
    let wait = RETRY_FROM_MS
    for (;;) {
      try {
        const result = await attempt(headers)
        this.#answered = true
        return result
      } catch (error) {
        signal?.throwIfAborted()
        if (error instanceof ApiError) this.#answered = true
        const pause = pauseBefore(error, repeatable, wait)
        const limit = this.#answered ? this.#retryForMs : Math.min(FIRST_CONTACT_MS, this.#retryForMs)
        if (pause === null || performance.now() + pause > began + limit) throw error
        await sleep(pause, signal)
        wait = Math.min(wait * 2, RETRY_TO_MS)
      }
    }
  }

  /** Sends one request and reads the whole answer. */
  async #ask<O extends OperationId>(operation: O, request: Sent): Promise<Answered<O>> {
    const limit = abortAfter(this.#timeoutMs, request.signal)
    try {
      const url = this.#urlOf(operation, request)
      const known = ROUTES[operation].method === 'GET' ? this.#memory.find(url) : undefined
      const headers = known === undefined ? {} : { 'if-none-match': known.etag }
      const response = await this.#send(
        operation,
        { ...request, headers: { ...headers, ...request.headers } },
        limit.signal,
      )
      if (known !== undefined && response.status === NOT_MODIFIED) {
        return { body: known.body as Answer<O>, headers: response.headers }
      }
      return { body: await this.#bodyOf(operation, response, url), headers: response.headers }
    } finally {
      limit.end()
    }
  }

  async #send(operation: OperationId, request: Sent, signal: AbortSignal | undefined): Promise<Response> {
    const { method, bearer, binary }: Route = ROUTES[operation]
    const { body } = request
    const token = this.#token ?? this.#sessions.load()?.accessToken
    const headers = {
      accept: 'application/json',
      ...(bearer && token !== undefined ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { 'content-type': binary ? 'application/octet-stream' : 'application/json' }),
      ...request.headers,
    }
    const init = {
      method,
      headers,
      ...(signal === undefined ? {} : { signal }),
      // A browser stores the cookie of the answer even when the page is left meanwhile.
      ...(operation === 'refreshLogin' ? { keepalive: true } : {}),
      ...(body === undefined ? {} : { body: binary ? (body as Uint8Array<ArrayBuffer> | Blob) : JSON.stringify(body) }),
    }
    // Not stored in the constructor: tests and pages may replace the global one later.
    const response = await (this.#fetch ?? fetch)(new URL(this.#urlOf(operation, request)), init).catch(
      (error: unknown) => {
        request.signal?.throwIfAborted()
        throw new ConnectionError(this.url, error)
      },
    )
    if (!response.ok && response.status !== NOT_MODIFIED) throw await refusalOf(response, this.url)
    return response
  }

  #urlOf(operation: OperationId, { params = {}, query = {} }: Sent): string {
    const { path }: Route = ROUTES[operation]
    const url = new URL(this.url + path.replace(/\{(\w+)\}/g, (_, name) => parameter(params, name)))
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    return url.href
  }

  async #bodyOf<O extends OperationId>(operation: O, response: Response, url: string): Promise<Answer<O>> {
    const lost = (error: unknown) => {
      throw new ConnectionError(this.url, error)
    }
    if (response.headers.get('content-type')?.startsWith('application/octet-stream')) {
      return new Uint8Array(await response.arrayBuffer().catch(lost)) as Answer<O>
    }
    const text = await response.text().catch(lost)
    try {
      const body: unknown = text === '' ? undefined : JSON.parse(text)
      if (isSlipwayAnswer(operation, response.headers, body)) {
        const etag = response.headers.get('etag')
        if (etag !== null) this.#memory.keep(url, { etag, body }, text.length)
        return body as Answer<O>
      }
    } catch {
      // The page of another server or of a proxy.
    }
    throw new NotSlipwayError(this.url, response)
  }
}

/** JavaScript does not check the names of operations. */
function findRoute(operation: OperationId): Route {
  if (Object.hasOwn(ROUTES, operation)) return ROUTES[operation]
  throw new Error(`There is no operation "${operation}": use an operationId of the OpenAPI document`)
}

interface Answered<O extends OperationId> {
  body: Answer<O>
  headers: Headers
}

interface Sent extends Request {
  headers?: Record<string, string>
}

// Browsers have crypto.randomUUID() over HTTPS only.
const newKey = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')

const endsSoon = ({ expiresAt }: Session) => expiresAt !== undefined && Date.now() > expiresAt - RENEW_BEFORE_END_MS

/** How long to wait before a retry of the same request, or null if it must not be repeated. */
function pauseBefore(error: unknown, repeatable: boolean, wait: number): number | null {
  const jittered = wait / 2 + (Math.random() * wait) / 2
  // The limiter refused the request before it had an effect. A lockout lasts too long to wait for.
  if (error instanceof RateLimitError && error.code !== 'AUTH_RATE_LIMIT_EXCEEDED') {
    return Math.max(jittered, (error.retryAfter ?? 0) * 1_000)
  }
  if (error instanceof ConnectionError) return repeatable || error.refused ? jittered : null
  return repeatable && error instanceof ApiError && error.status >= 500 ? jittered : null
}

/**
 * Not AbortSignal.timeout: in Node 20 a garbage collection takes it out of AbortSignal.any, and the request never ends.
 * The caller calls `end` after the request. Otherwise each request leaves a listener on the signal of the caller.
 */
function abortAfter(ms: number, outer: AbortSignal | undefined): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new DOMException('The answer took too long', 'TimeoutError')), ms)
  // In Node a request that has ended must not keep the process alive. Browsers have numbers for timers.
  if (typeof timer === 'object') timer.unref()
  const abort = () => controller.abort(outer?.reason)
  if (outer?.aborted) abort()
  outer?.addEventListener('abort', abort)
  const end = () => {
    clearTimeout(timer)
    outer?.removeEventListener('abort', abort)
  }
  return { signal: controller.signal, end }
}

function parameter(params: Record<string, string>, name: string): string {
  const value = params[name]
  if (value === undefined) throw new Error(`The path needs a value for {${name}}`)
  return encodeURIComponent(value)
}

/** Whether an answer without an error can be Slipway's. Other servers answer with JSON, too. */
function isSlipwayAnswer(operation: OperationId, headers: Headers, body: unknown): boolean {
  if (!headers.has('x-request-id')) return false
  if (body === undefined) return !(operation in PROMISED)
  if (typeof body !== 'object' || body === null) return false
  const promised = PROMISED[operation]
  return promised === undefined || promised.some((field) => field in body)
}

/**
 * What the answer of an operation has at least one of. Without this check a login at another server stores an empty session.
 * Not every field of the OpenAPI document: an older server lacks the newer ones.
 */
const PROMISED: { [O in OperationId]?: readonly string[] } = {
  exchangeCliCode: ['access_token'],
  exchangeToken: ['access_token'],
  getCurrentUser: ['username', 'email'],
  listLoginProviders: ['password_login'],
  login: ['access_token', 'requires_2fa'],
  refreshLogin: ['access_token'],
  verifyTwoFactor: ['access_token'],
}
