import type { AGENT_ERRORS } from '@slipway/contracts'

type AgentErrorCode = (typeof AGENT_ERRORS)[number]

const STATUS: Record<AgentErrorCode, number> = {
  INVALID: 400,
  NOT_FOUND: 404,
  VERSION: 409,
  FENCED: 409,
  MISSING_CONTENT: 409,
  BUSY: 503,
  DISK: 507,
}

/** A refused call of an instance. */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly code: AgentErrorCode
  readonly missing: string[] | undefined

  constructor(code: AgentErrorCode, message: string, missing?: string[]) {
    super(message)
    this.code = code
    this.missing = missing
  }

  get status(): number {
    return STATUS[this.code]
  }
}
