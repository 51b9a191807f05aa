import { adviseConnection } from './connection-advice.ts'

/** A refusal of the API, with the HTTP status and the request id in the log of the server. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError'
  readonly status: number
  /** The error code of the API. `HTTP_<status>` for an answer in another form, such as that of the general limit. */
  readonly code: string
  readonly details: Record<string, unknown>
  readonly requestId: string | undefined
  /** The seconds until a retry, if the server names them. */
  readonly retryAfter: number | undefined

  constructor({ status, code, message, details, requestId, retryAfter }: Refusal) {
    super(message)
    this.status = status
    this.code = code
    this.details = details ?? {}
    this.requestId = requestId
    this.retryAfter = retryAfter
  }

  /** Whether the same request may succeed later. */
  get passing(): boolean {
    return this.status === 429 || this.status >= 500
  }
}

/** 400: the request is not valid. `problems` lists the wrong fields. */
export class ValidationError extends ApiError {
  override readonly name = 'ValidationError'

  get problems(): { path: string; message: string }[] {
    const fields = listOf<string>(this.details['fields']).map((field) => ({
      path: `/${field}`,
      message: 'is required',
    }))
    return [...listOf<{ path: string; message: string }>(this.details['errors']), ...fields]
  }

  /** How many wrong fields the answer does not list. */
  get more(): number {
    const { more } = this.details
    return typeof more === 'number' ? more : 0
  }

  /** Why a request with `strict` was refused. */
  get warnings(): string[] {
    return listOf(this.details['warnings'])
  }
}

/** 401: the credential is missing, wrong, expired or revoked. */
export class AuthenticationError extends ApiError {
  override readonly name: string = 'AuthenticationError'
}

/** 401: the server does not accept the ID token of a service account. Only its audit log has the reason. */
export class TokenExchangeError extends AuthenticationError {
  override readonly name: string = 'TokenExchangeError'
}

/** 403: the credential does not permit this. */
export class PermissionError extends ApiError {
  override readonly name = 'PermissionError'
}

/** 404: a record does not exist, or belongs to another tenant. `missing` lists the records in the body that do not exist. */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError'

  get missing(): { path: string; id: string }[] {
    return listOf(this.details['missing'])
  }
}

/** 409: the request conflicts with the present state. */
export class ConflictError extends ApiError {
  override readonly name: string = 'ConflictError'

  /** The fields of the body that another record has already, such as its name. */
  get problems(): { path: string; message: string }[] {
    return listOf(this.details['errors'])
  }
}

/** 409 `DEPLOYMENT_FROZEN`: an active freeze forbids the deployment. */
export class FrozenError extends ConflictError {
  override readonly name = 'FrozenError'

  /** `target_ids`: the targets that make the freeze apply, if the request does not name its tenant or environment. */
  get freezes(): { id: string; name: string; ends_at: string; target_ids?: string[] }[] {
    return listOf(this.details['active_freezes'])
  }

  get canOverride(): boolean {
    return this.details['can_override'] === true
  }
}

/** 429: too many requests, or too many attempts to log in. */
export class RateLimitError extends ApiError {
  override readonly name = 'RateLimitError'
}

/** 5xx: the server, or a part of it, failed. */
export class ServerError extends ApiError {
  override readonly name = 'ServerError'
}

/** The server did not answer, or the connection broke. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  /** The address of the server. */
  readonly url: string
  /** The code of the network error, such as `ECONNREFUSED`, or `timeout`. */
  readonly reason: string

  constructor(url: string, cause: unknown) {
    const reason = reasonOf(cause)
    super(`Slipway does not answer at ${url} (${reason}): ${adviseConnection(url, reason)}`, { cause })
    this.url = url
    this.reason = reason
  }

  /** Whether the request did not arrive, so a retry cannot have a second effect. */
  get refused(): boolean {
    return this.reason === 'ECONNREFUSED'
  }

  /** Whether the certificate of the server is of an authority that this machine does not know. */
  get untrusted(): boolean {
    return UNTRUSTED.test(this.reason)
  }
}

/** The codes that Node has for certificates whose authority it does not know. */
const UNTRUSTED =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(_LOCALLY)?))$/

/** Something answers at the address that does not speak the API: another server, or a proxy with a page of its own. */
export class NotSlipwayError extends Error {
  override readonly name = 'NotSlipwayError'

  constructor(url: string, { status, headers }: Pick<Response, 'status' | 'headers'>) {
    const type = headers.get('content-type')?.split(';')[0] || 'no content type'
    // A server with TLS answers so to a request without it.
    const isPlain = status === 400 && url.startsWith('http:')
    const next = isPlain ? 'is it https, not http?' : 'check the address and its port, and proxies in between'
    super(`${url} answers, but is not Slipway (status ${status}, ${type}): ${next}`)
  }
}

interface Refusal {
  status: number
  code: string
  message: string
  details?: Record<string, unknown> | undefined
  requestId?: string | undefined
  retryAfter?: number | undefined
}

/** Makes the error for an answer with a status of 400 or more. */
export async function refusalOf(response: Response, url: string): Promise<ApiError | NotSlipwayError> {
  const { status, headers } = response
  const body = parseErrorBody(await response.text().catch(() => ''))
  // Proxies whose server is away answer 5xx in a form of their own. The general limit answers 429 as text.
  const isOfProxy = body.code === undefined && (status >= 500 || status === 429)
  const isOfSlipway = body.code !== undefined && headers.has('x-request-id')
  if (!isOfProxy && !isOfSlipway) return new NotSlipwayError(url, response)
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN)
  const refusal: Refusal = {
    status,
    ...body,
    code: body.code ?? `HTTP_${status}`,
    message: body.message || `the server answered ${status}`,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : undefined,
  }
  return toApiError(refusal)
}

/** Makes the error for a refusal that an answer describes, as that of `checkCatalog` does. */
export const toApiError = (refusal: Refusal): ApiError => new (classOf(refusal))(refusal)

function classOf({ status, code }: Refusal): typeof ApiError {
  if (code === 'DEPLOYMENT_FROZEN') return FrozenError
  const byStatus: Record<number, typeof ApiError> = {
    400: ValidationError,
    401: AuthenticationError,
    403: PermissionError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
  }
  return byStatus[status] ?? (status >= 500 ? ServerError : ApiError)
}

function parseErrorBody(text: string): { code?: string; message: string; details?: Record<string, unknown> } {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown; details?: unknown } }
    if (typeof error?.code === 'string' && typeof error.message === 'string') {
      const { code, message, details } = error
      const known = typeof details === 'object' && details !== null
      return { code, message, ...(known ? { details: details as Record<string, unknown> } : {}) }
    }
  } catch {
    // The page of a proxy, or the plain text of the general limit.
  }
  return { message: text.trim().slice(0, 200) }
}

/** The code of the network error, which fetch wraps into an error of its own. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as { name?: string; message?: string; cause?: { code?: string } }
  return cause?.code ?? (name === 'TimeoutError' ? 'timeout' : (message ?? String(error)))
}

function listOf<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : []
}
