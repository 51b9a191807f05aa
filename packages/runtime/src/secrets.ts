import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  type Hmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16
const WRAPPED_BYTES = IV_BYTES + TAG_BYTES + KEY_BYTES

type SecretProblem = 'malformed' | 'unknown_key' | 'wrong_key' | 'wrong_record'

/** A secret cannot be sealed or opened. The message names the key id, never the secret. */
export class SecretError extends Error {
  override name = 'SecretError'
  readonly code: SecretProblem

  constructor(code: SecretProblem, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * Seals secrets for storage. Each secret has its own data key, which the current key of the ring encrypts. The sealed text holds
 * the encrypted data key, so a rotation rewrites only data keys. `aad` identifies the record: a sealed secret cannot be opened
 * in another record.
 */
export class KeyRing {
  readonly currentKeyId: string
  readonly #keys: Map<string, Buffer>

  private constructor(keys: Map<string, Buffer>, current: string) {
    this.#keys = keys
    this.currentKeyId = current
  }

  /** Parses `kid:base64,kid:base64`. The first key seals, and all keys open. Throws SecretError. */
  static parse(text: string): KeyRing {
    const keys = parseKeys(text)
    for (const [id, key] of keys) {
      if (key.length !== KEY_BYTES) {
        throw new SecretError('malformed', `Encryption key ${id} has ${key.length} bytes; it must have ${KEY_BYTES}`)
      }
    }
    const [current] = keys.keys()
    return new KeyRing(keys, current as string)
  }

  get keyIds(): string[] {
    return [...this.#keys.keys()]
  }

  /**
   * A keyed hash for one purpose, with a key that is derived from a key of the ring. Without the key, nobody can test guesses of
   * the hashed text. Null if the ring has no key with that id.
   */
  hmac(purpose: string, keyId = this.currentKeyId): Hmac | null {
    const key = this.#keys.get(keyId)
    if (!key) return null
    return createHmac('sha256', Buffer.from(hkdfSync('sha256', key, '', `slipway ${purpose}`, KEY_BYTES)))
  }

  /** Returns `v1.<key id>.<base64url of wrapped data key and sealed text>`. */
  seal(plain: string | Buffer, aad: string): string {
    const id = this.currentKeyId
    const dataKey = randomBytes(KEY_BYTES)
    const wrapped = encrypt(this.#keys.get(id) as Buffer, dataKey, wrapIdentity(id))
    const sealed = encrypt(dataKey, typeof plain === 'string' ? Buffer.from(plain, 'utf8') : plain, aad)
    return `v1.${id}.${Buffer.concat([wrapped, sealed]).toString('base64url')}`
  }

  /** Throws SecretError if the key is missing or the secret was sealed for another record. */
  open(sealed: string, aad: string): Buffer {
    const { id, blob } = parseSealed(sealed)
    const plain = decrypt(this.#dataKey(id, blob), blob.subarray(WRAPPED_BYTES), aad)
    if (!plain) {
      throw new SecretError('wrong_record', `A secret under key ${id} was altered or does not belong to ${aad}`)
    }
    return plain
  }

  /** Encrypts the data key of a secret with the current key. Throws SecretError. */
  rewrap(sealed: string): string {
    const { id, blob } = parseSealed(sealed)
    if (id === this.currentKeyId) return sealed
    const current = this.currentKeyId
    const wrapped = encrypt(this.#keys.get(current) as Buffer, this.#dataKey(id, blob), wrapIdentity(current))
    return `v1.${current}.${Buffer.concat([wrapped, blob.subarray(WRAPPED_BYTES)]).toString('base64url')}`
  }

  openText(sealed: string, aad: string): string {
    return this.open(sealed, aad).toString('utf8')
  }

  #dataKey(id: string, blob: Buffer): Buffer {
    const key = this.#keys.get(id)
    if (!key) {
      throw new SecretError('unknown_key', `Encryption key ${id} is missing: add it to SLIPWAY_ENCRYPTION_KEYS`)
    }
    const dataKey = decrypt(key, blob.subarray(0, WRAPPED_BYTES), wrapIdentity(id))
    if (!dataKey) {
      throw new SecretError(
        'wrong_key',
        `Encryption key ${id} is not the key that sealed this secret: restore the key with this id in SLIPWAY_ENCRYPTION_KEYS`,
      )
    }
    return dataKey
  }
}

/** The id of the key of a sealed secret. Throws SecretError for any other text. */
export function sealedKeyId(sealed: string): string {
  return parseSealed(sealed).id
}

/** Parses `id:base64` pairs in order. Throws SecretError for any other text. The caller checks the lengths of keys. */
export function parseKeys(text: string): Map<string, Buffer> {
  const keys = new Map<string, Buffer>()
  for (const part of text.split(',').map((piece) => piece.trim())) {
    const match = /^([A-Za-z0-9_-]{1,64}):([A-Za-z0-9+/]+={0,2})$/.exec(part)
    if (!match) {
      throw new SecretError('malformed', `Key number ${keys.size + 1} must have the form <id>:<base64>`)
    }
    const [, id, encoded] = match as unknown as [string, string, string]
    if (keys.has(id)) throw new SecretError('malformed', `Key id ${id} is used twice`)
    keys.set(id, Buffer.from(encoded, 'base64'))
  }
  return keys
}

/** SHA-256 in hex, for the storage of tokens with high entropy. */
export function hashToken(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

/** A random token of `bytes` bytes in base64url. */
export function randomToken(bytes = 32): string {
  return randomBytes(bytes).toString('base64url')
}

/** Whether two texts are equal, in constant time. */
export function constantTimeEqual(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text, 'utf8').digest()
  return timingSafeEqual(digest(a), digest(b))
}

function wrapIdentity(keyId: string): string {
  return `slipway data key ${keyId}`
}

function parseSealed(sealed: string): { id: string; blob: Buffer } {
  const match = /^v1\.([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]+)$/.exec(sealed)
  const blob = Buffer.from(match?.[2] ?? '', 'base64url')
  if (!match?.[1] || blob.length < WRAPPED_BYTES + IV_BYTES + TAG_BYTES) {
    throw new SecretError('malformed', 'This is not a sealed secret of version 1')
  }
  return { id: match[1], blob }
}

function encrypt(key: Buffer, plain: Buffer, aad: string): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(aad, 'utf8'))
  const text = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), text])
}

function decrypt(key: Buffer, blob: Buffer, aad: string): Buffer | null {
  const decipher = createDecipheriv('aes-256-gcm', key, blob.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(aad, 'utf8')).setAuthTag(blob.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(blob.subarray(IV_BYTES + TAG_BYTES)), decipher.final()])
  } catch {
    return null
  }
}
