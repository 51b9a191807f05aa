/** Why a call of an instance or an agent is refused; answered as the standard error body. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string
  readonly details: Record<string, unknown> | undefined

  constructor(status: number, code: string, message: string, details?: Record<string, unknown>) {
    super(message)
    this.name = 'Refusal'
    this.status = status
    this.code = code
    this.details = details
  }
}

export const invalid = (message: string, errors?: { path: string; message: string }[]) =>
  new Refusal(400, 'VALIDATION_ERROR', message, errors === undefined ? undefined : { errors })

/** The instance reported an impossible event. The run ends failed, because it could never continue. */
export class IllegalEvent extends Refusal {
  constructor(message: string) {
    super(400, 'VALIDATION_ERROR', message)
    this.name = 'IllegalEvent'
  }
}

export const unauthorized = (message: string) => new Refusal(401, 'UNAUTHORIZED', message)

/** The instance no longer holds the lease of the run and must kill its commands. */
export const fenced = () => new Refusal(409, 'FENCED', 'The lease of this epoch has ended: stop the run and forget it')
