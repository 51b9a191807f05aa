import { createPublicKey, type KeyObject } from 'node:crypto'
import { KeyProblem } from './problem.ts'
import { wireInteger, wireString } from './wire.ts'

/** The curves of ECDSA keys: the names in JSON Web Keys, and in SSH. */
export const CURVES = { 'P-256': 'nistp256', 'P-384': 'nistp384', 'P-521': 'nistp521' } as const

const bytesOf = (value: unknown) => Buffer.from(String(value), 'base64url')

/** The type and the bytes of the public key as SSH hosts know it. @throws KeyProblem for a type that they do not accept */
export function publicKeyOf(secret: KeyObject): { type: string; bytes: Buffer } {
  const kind = secret.asymmetricKeyType
  if (kind !== 'rsa' && kind !== 'ec' && kind !== 'ed25519') throw unusable(kind ?? 'unknown')
  const key = createPublicKey(secret).export({ format: 'jwk' })
  if (kind === 'rsa') return publicKey('ssh-rsa', wireInteger(bytesOf(key.e)), wireInteger(bytesOf(key.n)))
  if (kind === 'ed25519') return publicKey('ssh-ed25519', wireString(bytesOf(key.x)))
  const curve = Object.entries(CURVES).find(([name]) => name === key.crv)?.[1]
  if (curve === undefined) throw unusable(`EC with the curve ${key.crv}`)
  const point = Buffer.concat([Buffer.from([4]), bytesOf(key.x), bytesOf(key.y)])
  return publicKey(`ecdsa-sha2-${curve}`, wireString(curve), wireString(point))
}

const publicKey = (type: string, ...parts: Buffer[]) => ({ type, bytes: Buffer.concat([wireString(type), ...parts]) })

export const unusable = (kind: string) =>
  new KeyProblem(`has the type ${kind}, which SSH hosts do not accept: use Ed25519, ECDSA (P-256, P-384, P-521) or RSA`)
