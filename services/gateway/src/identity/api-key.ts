import { createHash, randomBytes } from 'node:crypto'

const PREFIX = 'svc_'
const RANDOM_BYTES = 32
const RANDOM_LENGTH = 43
const CHECKSUM_LENGTH = 6
const SHOWN_LENGTH = 12
const FORM = new RegExp(`^${PREFIX}[A-Za-z0-9_-]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`)

/** `svc_`, 32 random bytes in base64url, and a checksum. The checksum detects mistyped keys without the database. */
export function makeApiKey(): string {
  const random = randomBytes(RANDOM_BYTES).toString('base64url')
  return PREFIX + random + checksum(random)
}

export const isApiKey = (token: string) => token.startsWith(PREFIX)

export function isWellFormedApiKey(key: string): boolean {
  if (!FORM.test(key)) return false
  const random = key.slice(PREFIX.length, PREFIX.length + RANDOM_LENGTH)
  return key.slice(PREFIX.length + RANDOM_LENGTH) === checksum(random)
}

/** The first characters, by which the owner recognises the key. */
export const shownPrefix = (key: string) => `${key.slice(0, SHOWN_LENGTH)}…`

function checksum(random: string): string {
  return createHash('sha256').update(`slipway api key ${random}`).digest('base64url').slice(0, CHECKSUM_LENGTH)
}
