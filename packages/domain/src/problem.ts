/** Every error code of the API with its HTTP status. */
export const ERROR_CODES = {
  VALIDATION_ERROR: 400,
  INVALID_BODY: 400,
  MISSING_FIELD: 400,
  UNAUTHORIZED: 401,
  MISSING_AUTH_HEADER: 401,
  INVALID_AUTH_HEADER: 401,
  INVALID_TOKEN: 401,
  TOKEN_EXPIRED: 401,
  INVALID_CREDENTIALS: 401,
  TWO_FACTOR_REQUIRED: 403,
  FORBIDDEN: 403,
  INSUFFICIENT_PERMISSIONS: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  DEPLOYMENT_FROZEN: 409,
  NOT_PROMOTED: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  AUTH_RATE_LIMIT_EXCEEDED: 429,
  DATABASE_ERROR: 500,
  DATABASE_CONNECTION_ERROR: 500,
  INTERNAL_ERROR: 500,
  EXTERNAL_SERVICE_ERROR: 500,
  CONFIGURATION_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const

export type ErrorCode = keyof typeof ERROR_CODES
type ProblemDetails = Record<string, unknown>

/** One problem of a request. `path` is a JSON Pointer into the body, or `query/NAME`. */
export interface FieldError {
  path: string
  message: string
  /** How many further errors of the same kind this one stands for; 0 if omitted. */
  others?: number
}

/** Errors that an answer names. Without a limit, an answer is several times as long as its request. */
const NAMED_ERRORS = 100
/** Errors in the message, for a person who reads nothing else. */
const SAID_ERRORS = 3

export interface ErrorBody {
  error: { code: string; message: string; details?: ProblemDetails; [extra: string]: unknown }
}

/** An error for the caller. Every other thrown error is a defect and is answered with INTERNAL_ERROR. */
export class Problem extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly details: ProblemDetails | undefined

  constructor(code: ErrorCode, message: string, details?: ProblemDetails) {
    super(message)
    this.name = 'Problem'
    this.code = code
    this.status = ERROR_CODES[code]
    this.details = details
  }

  /** Restores a problem from the error body of a message (see `toErrorBody`). */
  static from(body: ErrorBody): Problem {
    const { code, message, details, ...extra } = body.error
    if (!Object.hasOwn(ERROR_CODES, code)) return new Problem('INTERNAL_ERROR', message, details)
    const all = { ...details, ...extra }
    return new Problem(code as ErrorCode, message, Object.keys(all).length > 0 ? all : undefined)
  }
}

/** 400 with the first 100 problems, and the number of the others in `details.more`. */
export function validationProblem(errors: FieldError[]): Problem {
  const total = errors.reduce((count, { others = 0 }) => count + 1 + others, 0)
  const said = errors.slice(0, SAID_ERRORS)
  const rest = total > said.length ? `; and ${total - said.length} more` : ''
  const message = `The request is not valid: ${said.map(formatFieldError).join('; ')}${rest}`
  const named = errors.slice(0, NAMED_ERRORS).map(({ path, message }) => ({ path, message }))
  const more = total - named.length
  return new Problem('VALIDATION_ERROR', message, { errors: named, ...(more > 0 ? { more } : {}) })
}

/** 400 for a request that wants a refusal instead of warnings. */
export function strictProblem(warnings: string[]): Problem {
  const said = warnings.slice(0, SAID_ERRORS)
  const rest = warnings.length > said.length ? `; and ${warnings.length - said.length} more` : ''
  const message = `The request is strict, so warnings refuse it: ${said.join('; ')}${rest}`
  return new Problem('VALIDATION_ERROR', message, { warnings })
}

/** 400 if the only problem is that these required fields are missing. */
export function missingFieldProblem(fields: string[]): Problem {
  return new Problem('MISSING_FIELD', `Required and missing: ${fields.join(', ')}`, { fields })
}

/** 404, also for a record of another tenant: the caller must not see a difference. */
export function notFound(what = 'The resource'): Problem {
  return new Problem('NOT_FOUND', `${what} was not found`)
}

/** 404 for all ids in a body that name no record. */
export function missingRecords(missing: { path: string; id: string }[]): Problem {
  const ids = missing.map(({ id }) => id).join(', ')
  return new Problem('NOT_FOUND', `These records were not found: ${ids}`, { missing })
}

export function conflict(message: string, details?: ProblemDetails): Problem {
  return new Problem('CONFLICT', message, details)
}

/** 409 for a deployment that active freezes forbid. */
export function frozen(
  activeFreezes: readonly { id: string; name: string; ends_at: string; target_ids?: string[] }[],
  canOverride: boolean,
): Problem {
  const names = activeFreezes.map(({ name }) => `"${name}"`).join(', ')
  const next = canOverride
    ? 'wait for its end, or set override_freeze and override_reason'
    : 'wait for its end, or ask an administrator'
  return new Problem('DEPLOYMENT_FROZEN', `Deployments are frozen by ${names}: ${next}`, {
    active_freezes: activeFreezes,
    can_override: canOverride,
  })
}

export function unavailable(message: string): Problem {
  return new Problem('SERVICE_UNAVAILABLE', message)
}

export function insufficientPermissions(permission: string): Problem {
  return new Problem('INSUFFICIENT_PERMISSIONS', `This needs the permission ${permission}`)
}

/** 429 of the authentication limit. Its two figures are beside the message, not in `details`. */
export function authRateLimited(retryAfterSeconds: number, reason: string): Problem {
  const message = `Too many attempts: try again in ${retryAfterSeconds} seconds`
  return new Problem('AUTH_RATE_LIMIT_EXCEEDED', message, { retry_after_secs: retryAfterSeconds, reason })
}

/** The error body of answers and messages. */
export function toErrorBody(problem: Problem): ErrorBody {
  const { code, message, details } = problem
  if (code === 'AUTH_RATE_LIMIT_EXCEEDED') return { error: { code, message, ...details } }
  return { error: details === undefined ? { code, message } : { code, message, details } }
}

/** Returns a JSON Pointer in the words of people, such as `tags[0].key`. A `query` or `header` before it is left out. */
export function formatPointer(path: string): string {
  const keys = path
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  return keys.map((key, index) => formatKey(key, index === 0)).join('')
}

function formatKey(key: string, isFirst: boolean): string {
  if (/^\d+$/.test(key)) return `[${key}]`
  if (!/^[\w-]+$/.test(key)) return `[${JSON.stringify(key)}]`
  return isFirst ? key : `.${key}`
}

/** For example `tags[0].key: is required`. */
export const formatFieldError = ({ path, message }: Pick<FieldError, 'path' | 'message'>): string =>
  formatPointer(path) === '' ? message : `${formatPointer(path)}: ${message}`

/** The JSON Pointer of a field in a body. */
export function pointer(...keys: (string | number)[]): string {
  return keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
