import { type ErrorBody, Problem, toErrorBody } from '@slipway/domain'

/** Why a call of a program of Slipway is refused. Their protocols have codes that the API does not have. */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly status: number
  readonly code: string
  readonly details: Record<string, unknown> | undefined

  constructor(status: number, code: string, message: string, details?: Record<string, unknown>) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
  }

  /** Whether it is a step of the protocol, and worth no warning. */
  get isExpected(): boolean {
    return false
  }

  get body(): ErrorBody {
    const { code, message, details } = this
    return { error: details === undefined ? { code, message } : { code, message, details } }
  }
}

/** What a caller gets instead of an answer: a Problem where the code is one of the API, else a Refusal. */
export type AnyRefusal = Problem | Refusal

export const isRefusal = (error: unknown): error is AnyRefusal => error instanceof Problem || error instanceof Refusal

/** The refusal for an error. The message of a defect stays in the log. */
export function refusalOf(error: unknown): AnyRefusal {
  if (isRefusal(error)) return error
  return new Problem('INTERNAL_ERROR', 'Something failed in the server; its log has the request id')
}

export const bodyOfRefusal = (refusal: AnyRefusal): ErrorBody =>
  refusal instanceof Refusal ? refusal.body : toErrorBody(refusal)
