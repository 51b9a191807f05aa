import { fingerprint, type HostKey, KeyProblem, readHostKey } from '@slipway/domain/ssh'
import { constantTimeEqual } from '@slipway/runtime'
import { HOST_KEY_KINDS } from './algorithms.ts'

/** The OpenSSH form of a key in the wire format: `ssh-ed25519 AAAA…`. */
export function hostKeyText(key: Buffer): string {
  const length = key.readUInt32BE(0)
  return `${key.toString('latin1', 4, 4 + length)} ${key.toString('base64')}`
}

/** A known host key: a public-key line (with or without host names and comment) or a SHA256 fingerprint. */
export class KnownHostKey {
  readonly fingerprint: string
  /** The sets of algorithms to try, one connection each. A fingerprint does not tell the type of its key. */
  readonly algorithms: readonly (readonly string[])[]

  constructor(text: string) {
    const { fingerprint, type } = readKnownKey(text)
    this.fingerprint = fingerprint
    this.algorithms = type === null ? Object.values(HOST_KEY_KINDS) : [HOST_KEY_KINDS[type] ?? []]
  }

  /** `hostKey` has the OpenSSH form. */
  isOf(hostKey: string): boolean {
    return this.matches(Buffer.from(hostKey.split(' ')[1] ?? '', 'base64'))
  }

  matches(key: Buffer): boolean {
    return constantTimeEqual(fingerprint(key), this.fingerprint)
  }
}

/** A text that was stored before host keys were checked matches no host, unless it is a fingerprint without `SHA256:`. */
function readKnownKey(text: string): HostKey {
  try {
    return readHostKey(text)
  } catch (error) {
    if (!(error instanceof KeyProblem)) throw error
    return { fingerprint: `SHA256:${text.trim().replace(/=+$/, '')}`, type: null }
  }
}
