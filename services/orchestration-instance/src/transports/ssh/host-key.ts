import { createHash } from 'node:crypto'
import { constantTimeEqual } from '@slipway/runtime'

/** Which host key algorithms to ask for, so that the server shows the key that is known. */
const ALGORITHMS_OF_TYPE: Record<string, string[]> = {
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa'],
}
const TYPES = ['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521', 'ssh-rsa']

/** The OpenSSH form of a key as it comes over the wire: `ssh-ed25519 AAAA…`. */
export function hostKeyText(key: Buffer): string {
  const length = key.readUInt32BE(0)
  return `${key.toString('latin1', 4, 4 + length)} ${key.toString('base64')}`
}

/** The fingerprint as OpenSSH prints it: `SHA256:…`. */
export function fingerprint(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}

/** A host key that is known: a public-key line (with or without host names and comment) or a SHA256 fingerprint. */
export class KnownHostKey {
  /** How to name it in a message. */
  readonly fingerprint: string
  /** Which sets of algorithms to try, one connection each: a fingerprint does not tell what kind of key it is of. */
  readonly algorithms: readonly string[][]

  constructor(text: string) {
    const words = text.trim().split(/\s+/)
    const at = words.findIndex((word) => TYPES.includes(word))
    const key = at >= 0 ? Buffer.from(words[at + 1] ?? '', 'base64') : null
    this.fingerprint = key
      ? fingerprint(key)
      : `SHA256:${text
          .trim()
          .replace(/^SHA256:/i, '')
          .replace(/=+$/, '')}`
    this.algorithms = (at >= 0 ? [words[at] as string] : TYPES).map((type) => ALGORITHMS_OF_TYPE[type] ?? [type])
  }

  matches(key: Buffer): boolean {
    return constantTimeEqual(fingerprint(key), this.fingerprint)
  }
}
