import { createHash } from 'node:crypto'
import { constantTimeEqual } from '@slipway/runtime'
import { HOST_KEY_KINDS } from './algorithms.ts'

/** The OpenSSH form of a key in the wire format: `ssh-ed25519 AAAA…`. */
export function hostKeyText(key: Buffer): string {
  const length = key.readUInt32BE(0)
  return `${key.toString('latin1', 4, 4 + length)} ${key.toString('base64')}`
}

/** The fingerprint as OpenSSH prints it: `SHA256:…`. */
export function fingerprint(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}

/** A known host key: a public-key line (with or without host names and comment) or a SHA256 fingerprint. */
export class KnownHostKey {
  readonly fingerprint: string
  /** The sets of algorithms to try, one connection each. A fingerprint does not tell the type of its key. */
  readonly algorithms: readonly (readonly string[])[]

  constructor(text: string) {
    const words = text.trim().split(/\s+/)
    const at = words.findIndex((word) => Object.hasOwn(HOST_KEY_KINDS, word))
    const key = at >= 0 ? Buffer.from(words[at + 1] ?? '', 'base64') : null
    this.fingerprint = key
      ? fingerprint(key)
      : `SHA256:${text
          .trim()
          .replace(/^SHA256:/i, '')
          .replace(/=+$/, '')}`
    this.algorithms = at >= 0 ? [HOST_KEY_KINDS[words[at] as string] ?? []] : Object.values(HOST_KEY_KINDS)
  }

  /** `hostKey` has the OpenSSH form. */
  isOf(hostKey: string): boolean {
    return this.matches(Buffer.from(hostKey.split(' ')[1] ?? '', 'base64'))
  }

  matches(key: Buffer): boolean {
    return constantTimeEqual(fingerprint(key), this.fingerprint)
  }
}
