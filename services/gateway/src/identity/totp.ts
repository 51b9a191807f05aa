import { randomBytes } from 'node:crypto'
import speakeasy from 'speakeasy'

const ISSUER = 'Slipway'
const STEP_SECONDS = 30
/** Clocks may be one step apart. */
const DRIFT_STEPS = 1
const SECRET_BYTES = 20
const SIX_DIGITS = /^[0-9]{6}$/
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

export function makeTotpSecret(): string {
  return base32(randomBytes(SECRET_BYTES))
}

/** The content of the QR code for an authenticator. */
export function otpauthUrl(secret: string, account: string): string {
  return speakeasy.otpauthURL({ secret, encoding: 'base32', label: `${ISSUER}:${account}`, issuer: ISSUER })
}

/** The time step of a right code, or null. The caller refuses a code that was used before. */
export function stepOfCode(secret: string, code: string, now: number): number | null {
  // The library accepts other forms, too.
  if (!SIX_DIGITS.test(code)) return null
  const seconds = Math.floor(now / 1_000)
  const found = speakeasy.totp.verifyDelta({
    secret,
    encoding: 'base32',
    token: code,
    window: DRIFT_STEPS,
    step: STEP_SECONDS,
    time: seconds,
  })
  return found === undefined ? null : Math.floor(seconds / STEP_SECONDS) + found.delta
}

/** Without padding. The number of bits must be a multiple of five. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? []).map((group) => BASE32[Number.parseInt(group, 2)]).join('')
}
