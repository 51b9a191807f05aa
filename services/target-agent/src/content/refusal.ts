import type { AGENT_ERRORS } from '@slipway/contracts'
import { Refusal as HttpRefusal } from '@slipway/http'

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

/** A refused call of an instance. The ids of missing content stand beside the message. */
export class Refusal extends HttpRefusal {
  readonly missing: string[] | undefined

  constructor(code: AgentErrorCode, message: string, missing?: string[]) {
    super(STATUS[code], code, message)
    this.missing = missing
  }

  /** The instance then sends the content. */
  override get isExpected(): boolean {
    return this.code === 'MISSING_CONTENT'
  }

  override get body() {
    const { code, message, missing } = this
    return { error: missing === undefined ? { code, message } : { code, message, missing } }
  }
}
