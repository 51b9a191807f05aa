import { Problem } from '@slipway/domain'

const MEMBER = /^sha-256=:([A-Za-z0-9+/]{43}=):$/

/**
 * The SHA-256 in a Content-Digest header (RFC 9530), in hex, or null. Other algorithms are ignored, as the RFC demands.
 * @throws Problem VALIDATION_ERROR
 */
export function claimedDigest(header: string | string[] | undefined): string | null {
  const members = [header ?? []].flat().flatMap((value) => value.split(','))
  const ours = members.map((member) => member.trim()).filter((member) => /^sha-256\s*=/i.test(member))
  if (ours.length === 0) return null
  const base64 = MEMBER.exec(ours[0] ?? '')?.[1]
  if (ours.length > 1 || base64 === undefined) throw wrong('must be sha-256=:<base64 of 32 bytes>:')
  return Buffer.from(base64, 'base64').toString('hex')
}

export const digestMismatch = (actual: string) => wrong(`does not match the body, which has the SHA-256 ${actual}`)

export const digestHeader = (id: string) => `sha-256=:${Buffer.from(id, 'hex').toString('base64')}:`

const wrong = (message: string) =>
  new Problem('VALIDATION_ERROR', `Content-Digest ${message}`, {
    errors: [{ path: 'header/Content-Digest', message }],
  })
