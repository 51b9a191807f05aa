/** A refusal of the API: its standard error body, with the HTTP status and the id under which the server logged it. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** The constant of the error table; `HTTP_<status>` where the answer had no standard body (the general limiter). */
  readonly code: string
  readonly details: Record<string, unknown> | undefined
  readonly requestId: string | undefined

  constructor(
    status: number,
    error: { code: string; message: string; details?: Record<string, unknown> },
    requestId?: string,
  ) {
    super(error.message)
    this.status = status
    this.code = error.code
    this.details = error.details
    this.requestId = requestId
  }

  /** Reads the error out of an answer whose status is not a success. */
  static async from(response: Response): Promise<ApiError> {
    const text = await response.text().catch(() => '')
    const requestId = response.headers.get('x-request-id') ?? undefined
    return new ApiError(response.status, standardError(text) ?? plainError(response.status, text), requestId)
  }

  /** Whether the same request may well succeed a little later. */
  get passing(): boolean {
    return this.status === 429 || this.status >= 500
  }
}

/** The server did not answer at all. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'

  constructor(baseUrl: string, cause: unknown) {
    super(`Slipway does not answer at ${baseUrl} (${reasonOf(cause)}): is it running, and is the address right?`, {
      cause,
    })
  }

  /** The request never arrived, so that sending it again cannot do anything twice. */
  get refused(): boolean {
    return reasonOf(this.cause) === 'ECONNREFUSED'
  }
}

/** The code of the network's error, which fetch wraps in one of its own. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as { name?: string; message?: string; cause?: { code?: string } }
  return cause?.code ?? (name === 'TimeoutError' ? 'timeout' : (message ?? String(error)))
}

function standardError(text: string) {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown; details?: unknown } }
    if (typeof error?.code !== 'string' || typeof error.message !== 'string') return undefined
    const { code, message, details } = error
    const isObject = typeof details === 'object' && details !== null
    return isObject ? { code, message, details: details as Record<string, unknown> } : { code, message }
  } catch {
    return undefined
  }
}

function plainError(status: number, text: string) {
  return { code: `HTTP_${status}`, message: text.trim().slice(0, 200) || `the server answered ${status}` }
}
