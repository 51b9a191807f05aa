import { createHash } from 'node:crypto'
import { KeyProblem } from './problem.ts'
import { WireReader } from './wire.ts'

export interface HostKey {
  /** As OpenSSH prints it: `SHA256:…`. */
  fingerprint: string
  /** Null for a fingerprint, which does not tell the type of its key. */
  type: string | null
}

const TYPES: ReadonlySet<string> = new Set([
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
])
const FINGERPRINT = /^SHA256:([A-Za-z0-9+/]{43})=?$/i
const ADVICE = 'give a fingerprint ("SHA256:…") or a public key ("ssh-ed25519 AAAA…"), as "ssh-keyscan HOST" prints it'

/** The fingerprint of a key in the wire format, as OpenSSH prints it: `SHA256:…`. */
export function fingerprint(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}

/** Reads a fingerprint, a public key, or a line of known_hosts. @throws KeyProblem */
export function readHostKey(text: string): HostKey {
  const line = text.trim()
  const [, digest] = FINGERPRINT.exec(line) ?? []
  if (digest !== undefined) return { fingerprint: `SHA256:${digest}`, type: null }
  if (line.includes('\n')) throw new KeyProblem(`has several lines: ${ADVICE}, of one key`)
  if (line.includes('PRIVATE KEY')) throw new KeyProblem(`is a private key: ${ADVICE}`)
  if (/^MD5:/i.test(line)) throw new KeyProblem(`is an MD5 fingerprint, which proves nothing: ${ADVICE}`)
  if (/^SHA256:/i.test(line)) throw new KeyProblem('is no SHA256 fingerprint: 43 characters follow "SHA256:"')
  if (line.startsWith('@')) throw new KeyProblem(`is a marked line of known_hosts, which is not supported: ${ADVICE}`)
  const words = line.split(/\s+/)
  // Host names may stand before the type, and a comment behind the key.
  const at = words.slice(0, 2).findIndex((word) => TYPES.has(word))
  const type = words[at]
  if (at < 0 || type === undefined) throw new KeyProblem(`is no host key of a known type: ${ADVICE}`)
  const key = Buffer.from(words[at + 1] ?? '', 'base64')
  if (typeIn(key) !== type) throw new KeyProblem(`is damaged: its base64 holds no key of the type ${type}; ${ADVICE}`)
  return { fingerprint: fingerprint(key), type }
}

/** The type inside of a key, if all of its parts are there. */
function typeIn(key: Buffer): string | null {
  const reader = new WireReader(key)
  try {
    const type = reader.text()
    let length = 4 + type.length
    while (length < key.length) length += 4 + reader.string().length
    return type
  } catch {
    return null
  }
}
