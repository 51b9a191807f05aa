import { createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { KeyProblem, needsNoPassphrase } from './problem.ts'
import { CURVES, publicKeyOf, unusable } from './public-key.ts'
import { WireReader } from './wire.ts'

const MAGIC = 'openssh-key-v1\0'

/** Reads the body of a key in the format of ssh-keygen. @throws KeyProblem, RangeError */
export function readOpenSsh(bytes: Buffer): KeyObject {
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) throw new RangeError('no key of OpenSSH')
  const outer = new WireReader(bytes.subarray(MAGIC.length))
  if (outer.text() !== 'none') throw needsNoPassphrase()
  outer.string()
  outer.string()
  if (outer.number() !== 1) throw new KeyProblem('holds several keys: give one')
  const stated = outer.string()
  const inner = new WireReader(outer.string())
  const check = inner.number()
  // A wrong passphrase makes them differ, and so does damage.
  if (inner.number() !== check) throw new RangeError('the check numbers differ')
  const key = createPrivateKey({ key: jwkOf(inner.text(), inner), format: 'jwk' })
  if (!publicKeyOf(key).bytes.equals(stated)) throw new RangeError('the private and the public part differ')
  return key
}

function jwkOf(type: string, reader: WireReader): JsonWebKey {
  if (type === 'ssh-ed25519') {
    const x = reader.string()
    return { kty: 'OKP', crv: 'Ed25519', x: encoded(x), d: encoded(reader.string().subarray(0, x.length)) }
  }
  if (type === 'ssh-rsa') {
    const [n, e, d, qi, p, q] = Array.from({ length: 6 }, () => reader.string()) as [
      Buffer,
      Buffer,
      Buffer,
      Buffer,
      Buffer,
      Buffer,
    ]
    const rest = (prime: Buffer) => bytesOf(numberOf(d) % (numberOf(prime) - 1n))
    const parts = { n, e, d, p, q, dp: rest(p), dq: rest(q), qi }
    return {
      kty: 'RSA',
      ...Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, encoded(unsigned(part))])),
    }
  }
  const curve = Object.entries(CURVES).find(([, name]) => type === `ecdsa-sha2-${name}`)
  if (curve === undefined) throw unusable(type)
  reader.string()
  const point = reader.string()
  const size = (point.length - 1) / 2
  const d = unsigned(reader.string())
  return {
    kty: 'EC',
    crv: curve[0],
    x: encoded(point.subarray(1, 1 + size)),
    y: encoded(point.subarray(1 + size)),
    d: encoded(Buffer.concat([Buffer.alloc(Math.max(0, size - d.length)), d])),
  }
}

const encoded = (bytes: Buffer) => bytes.toString('base64url')
const numberOf = (bytes: Buffer) => BigInt(`0x${bytes.toString('hex')}`)
function bytesOf(value: bigint): Buffer {
  const digits = value.toString(16)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

/** Without the zero byte that keeps an integer of SSH positive. */
const unsigned = (bytes: Buffer) => (bytes[0] === 0 ? bytes.subarray(1) : bytes)
