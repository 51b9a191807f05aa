import { LOGIN_ERRORS, type LoginError } from '@slipway/contracts'
import { Problem } from '@slipway/domain'

interface RefusedAccount {
  id: string
  tenant_id: string | null
}

/** A login with a provider is refused. The browser gets the code; the reason is for log and audit record. */
export class LoginRefused extends Problem {
  readonly loginError: LoginError
  readonly reason: string
  /** The account that the login found. */
  readonly account: RefusedAccount | undefined

  constructor(loginError: LoginError, reason: string, account?: RefusedAccount) {
    super('FORBIDDEN', LOGIN_ERRORS[loginError])
    this.loginError = loginError
    this.reason = reason
    this.account = account
  }
}
