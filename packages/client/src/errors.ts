/** A refusal of the API: its standard error body, with the HTTP status and the id under which the server logged it. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError'
  readonly status: number
  /** The constant of the error table; `HTTP_<status>` where the answer had no standard body (the general limiter). */
  readonly code: string
  readonly details: Record<string, unknown>
  readonly requestId: string | undefined
  /** Seconds after which the server allows a retry, if it says so. */
  readonly retryAfter: number | undefined

  constructor({ status, code, message, details, requestId, retryAfter }: Refusal) {
    super(message)
    this.status = status
    this.code = code
    this.details = details ?? {}
    this.requestId = requestId
    this.retryAfter = retryAfter
  }

  /** Whether the same request may succeed a little later. */
  get passing(): boolean {
    return this.status === 429 || this.status >= 500
  }
}

/** 400: the request is not valid; `problems` says which fields and why. */
export class ValidationError extends ApiError {
  override readonly name = 'ValidationError'

  get problems(): { path: string; message: string }[] {
    const fields = listOf<string>(this.details['fields']).map((field) => ({
      path: `/${field}`,
      message: 'is required',
    }))
    return [...listOf<{ path: string; message: string }>(this.details['errors']), ...fields]
  }

  /** Why a request with `strict` was refused. */
  get warnings(): string[] {
    return listOf(this.details['warnings'])
  }
}

/** 401: the credential is missing, wrong, expired or revoked. */
export class AuthenticationError extends ApiError {
  override readonly name = 'AuthenticationError'
}

/** 403: the credential does not permit this. */
export class PermissionError extends ApiError {
  override readonly name = 'PermissionError'
}

/** 404: it does not exist, or belongs to another tenant; `missing` names records that the body referred to. */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError'

  get missing(): { path: string; id: string }[] {
    return listOf(this.details['missing'])
  }
}

/** 409: conflicts with the present state. */
export class ConflictError extends ApiError {
  override readonly name: string = 'ConflictError'
}

/** 409 `DEPLOYMENT_FROZEN`: an active freeze forbids the deployment. */
export class FrozenError extends ConflictError {
  override readonly name = 'FrozenError'

  /** `target_ids` are the targets by which a freeze applies, where the request itself does not name what is frozen. */
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

/** The server did not answer at all, or broke off. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'

  constructor(url: string, cause: unknown) {
    super(`Slipway does not answer at ${url} (${reasonOf(cause)}): is it running, and is the address right?`, { cause })
  }

  /** The request never arrived, so a retry cannot have a second effect. */
  get refused(): boolean {
    return reasonOf(this.cause) === 'ECONNREFUSED'
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

/** The error for an answer with a status of 400 or more. */
export async function refusalOf(response: Response): Promise<ApiError> {
  const { status, headers } = response
  const said = standardError(await response.text().catch(() => ''))
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN)
  const refusal: Refusal = {
    status,
    ...said,
    code: said.code ?? `HTTP_${status}`,
    message: said.message || `the server answered ${status}`,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : undefined,
  }
  return new (classOf(refusal))(refusal)
}

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

function standardError(text: string): { code?: string; message: string; details?: Record<string, unknown> } {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown; details?: unknown } }
    if (typeof error?.code === 'string' && typeof error.message === 'string') {
      const { code, message, details } = error
      const known = typeof details === 'object' && details !== null
      return { code, message, ...(known ? { details: details as Record<string, unknown> } : {}) }
    }
  } catch {
    // Not ours: a proxy's page, or the general limiter's plain text.
  }
  return { message: text.trim().slice(0, 200) }
}

/** The code of the network's error, which fetch wraps in one of its own. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as { name?: string; message?: string; cause?: { code?: string } }
  return cause?.code ?? (name === 'TimeoutError' ? 'timeout' : (message ?? String(error)))
}

function listOf<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : []
}
