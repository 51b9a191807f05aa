import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { readOpenSsh } from './openssh.ts'
import { KeyProblem, needsNoPassphrase } from './problem.ts'
import { publicKeyOf } from './public-key.ts'

export interface PrivateKey {
  key: KeyObject
  /** The type of the public key, such as ssh-ed25519. */
  type: string
  /** The public key in OpenSSH form: `ssh-ed25519 AAAA…`. */
  publicKey: string
}

/** The labels of PEM files with private keys, without `ENCRYPTED PRIVATE KEY`. */
const LABELS = new Set(['OPENSSH PRIVATE KEY', 'PRIVATE KEY', 'RSA PRIVATE KEY', 'EC PRIVATE KEY', 'DSA PRIVATE KEY'])
const PUBLIC_KEY = /^(ssh-|ecdsa-|sk-)\S+ |^-----BEGIN (RSA )?PUBLIC KEY-----|^---- BEGIN SSH2 PUBLIC KEY ----/
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
/** As OpenSSH. */
const MAX_RSA_BITS = 16_384
/** A signature of a larger RSA key takes too long to try it (16,384 bits: about 0.5 s). */
const MAX_TRIED_BITS = 8_192
const DAMAGED = 'is damaged: copy the whole file again'

/**
 * Reads a private key as ssh-keygen or OpenSSL writes it: OpenSSH, PKCS#1, SEC 1 or PKCS#8, without passphrase.
 * @throws KeyProblem
 */
export function readPrivateKey(text: string): PrivateKey {
  const lines = text
    .trim()
    .split('\n')
    .map((line) => line.trim())
  const label = labelOf(lines, text)
  const body = bodyOf(lines)
  const key = keyOf(label, lines, body)
  const { type, bytes } = publicKeyOf(key)
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
  if (modulusLength > MAX_RSA_BITS) throw new KeyProblem(`has ${modulusLength} bits, more than SSH hosts accept`)
  if (modulusLength <= MAX_TRIED_BITS && !canSign(key)) throw new KeyProblem(DAMAGED)
  return { key, type, publicKey: `${type} ${bytes.toString('base64')}` }
}

function labelOf(lines: readonly string[], text: string): string {
  const [first = ''] = lines
  if (PUBLIC_KEY.test(first)) {
    throw new KeyProblem('is a public key: give the private key, from the file without ".pub"')
  }
  if (first.startsWith('PuTTY-User-Key-File-')) {
    throw new KeyProblem('is a key of PuTTY: convert it with "puttygen KEY -O private-openssh"')
  }
  const label = /^-----BEGIN ([A-Z0-9 ]+)-----/.exec(first)?.[1]
  if (label === undefined) {
    throw new KeyProblem('does not begin with "-----BEGIN … PRIVATE KEY-----": give the whole file of the private key')
  }
  if (label === 'ENCRYPTED PRIVATE KEY') throw needsNoPassphrase()
  if (!LABELS.has(label)) throw new KeyProblem(`holds a ${label}, and no private key`)
  if (lines.length === 1) {
    const how = text.includes('\\n') ? '"\\n" in place of line breaks' : 'no line breaks'
    throw new KeyProblem(`has ${how}: keep the lines of the file`)
  }
  if (first !== `-----BEGIN ${label}-----`) throw new KeyProblem('has more than "-----BEGIN …-----" in line 1')
  if (lines.at(-1) !== `-----END ${label}-----`) {
    throw new KeyProblem(`does not end with "-----END ${label}-----": its end is missing, or something follows it`)
  }
  return label
}

/** The base64 lines, after the headers of old PEM files. */
function bodyOf(lines: readonly string[]): string {
  const isEncrypted = lines.some((line) => /^Proc-Type:.*ENCRYPTED/.test(line))
  if (isEncrypted) throw needsNoPassphrase()
  const body = lines.slice(1, -1)
  const bad = body.findIndex((line) => line !== '' && !BASE64.test(line))
  if (bad >= 0) throw new KeyProblem(`is damaged in line ${bad + 2}: only letters, digits, +, / and = may stand there`)
  return body.join('')
}

function keyOf(label: string, lines: readonly string[], body: string): KeyObject {
  try {
    if (label === 'OPENSSH PRIVATE KEY') return readOpenSsh(Buffer.from(body, 'base64'))
    return createPrivateKey(`${lines.filter((line) => line !== '').join('\n')}\n`)
  } catch (error) {
    if (error instanceof KeyProblem) throw error
    // The error of the library may quote the key.
    throw new KeyProblem(DAMAGED)
  }
}

/** Whether the numbers of the key fit together. */
function canSign(key: KeyObject): boolean {
  const data = Buffer.from('slipway')
  const hash = key.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  try {
    return verify(hash, data, createPublicKey(key), sign(hash, data, key))
  } catch {
    return false
  }
}
