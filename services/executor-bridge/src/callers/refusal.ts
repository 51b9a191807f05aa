import { Problem } from '@slipway/domain'
import { Refusal } from '@slipway/http'

export const invalid = (message: string) => new Problem('VALIDATION_ERROR', message)

/** The instance reported an impossible event. The run ends failed, because it could never continue. */
export class IllegalEvent extends Problem {
  override name = 'IllegalEvent'

  constructor(message: string) {
    super('VALIDATION_ERROR', message)
  }
}

export const unauthorized = (message: string) => new Problem('UNAUTHORIZED', message)

/** The instance no longer holds the lease of the run and must kill its commands. */
export const fenced = () => new Refusal(409, 'FENCED', 'The lease of this epoch has ended: stop the run and forget it')
