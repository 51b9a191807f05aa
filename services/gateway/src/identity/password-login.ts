import { Problem } from '@slipway/domain'

/** With SLIPWAY_PASSWORD_LOGIN=false. It says the same whether the account exists, and whether the password is right. */
export const passwordLoginIsOff = () =>
  new Problem('FORBIDDEN', 'Password login is switched off, or this e-mail and password do not open an account')

/** @throws Problem FORBIDDEN unless users may log in by password, or this user may do so nevertheless */
export function requirePasswordLogin(passwordLogin: boolean, user: { break_glass: boolean }): void {
  if (!passwordLogin && !user.break_glass) throw passwordLoginIsOff()
}

/** @throws Problem FORBIDDEN */
export function requirePasswordChange(passwordLogin: boolean, user: { break_glass: boolean } | null): void {
  if (passwordLogin || user?.break_glass === true) return
  throw new Problem('FORBIDDEN', 'Password login is switched off: change the password at your provider')
}
