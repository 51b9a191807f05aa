import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { KeyProblem, readPrivateKey } from '@slipway/domain/ssh'
import { LRUCache } from 'lru-cache'
import ssh2, {
  BaseAgent,
  type IdentityCallback,
  type ParsedKey,
  type SignCallback,
  type SigningRequestOptions,
} from 'ssh2'

/** How many keys are cached. Few targets have their own key. */
const MAX_KEYS = 32
/** The hash of signatures for key types for which the library gives none. */
const HASHES: Readonly<Record<string, string>> = {
  'ecdsa-sha2-nistp256': 'sha256',
  'ecdsa-sha2-nistp384': 'sha384',
  'ecdsa-sha2-nistp521': 'sha512',
}

/** A cache of parsed private keys. The library parses the key for each signature, which needs ten times the CPU time. */
export class PrivateKeys {
  readonly #keys = new LRUCache<string, PrivateKey>({ max: MAX_KEYS })

  /** @throws KeyProblem */
  get(text: string): PrivateKey {
    const key = this.#keys.get(text) ?? new PrivateKey(text)
    this.#keys.set(text, key)
    return key
  }
}

/** Replaces the ssh agent that the library asks for signatures. */
class PrivateKey extends BaseAgent<ParsedKey> {
  /** The public part, or the whole key. */
  readonly #key: ParsedKey
  readonly #secret: KeyObject

  constructor(text: string) {
    super()
    const { key, secret } = parse(text)
    this.#key = key
    this.#secret = secret
  }

  override getIdentities(done: IdentityCallback<ParsedKey>): void {
    done(undefined, [this.#key])
  }

  override sign(
    _key: ParsedKey,
    data: Buffer,
    options: SigningRequestOptions | SignCallback,
    done?: SignCallback,
  ): void {
    const { hash } = options as SigningRequestOptions
    done?.(undefined, sign(hash ?? HASHES[this.#key.type], data, this.#secret))
  }
}

function parse(text: string): { key: ParsedKey; secret: KeyObject } {
  try {
    const { key: secret, publicKey } = readPrivateKey(text)
    return { key: parsedByLibrary(publicKey), secret }
  } catch (error) {
    if (!(error instanceof KeyProblem)) throw error
    // The library reads some keys that were stored before keys were checked, such as those of PuTTY.
    try {
      const key = parsedByLibrary(text)
      return { key, secret: createPrivateKey(key.getPrivatePEM()) }
    } catch {
      throw error
    }
  }
}

function parsedByLibrary(text: string): ParsedKey {
  const key = ssh2.utils.parseKey(text)
  if (key instanceof Error) throw key
  return key
}
