import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
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

  /** Throws if the text is not a private key or needs a passphrase. */
  get(text: string): PrivateKey {
    const key = this.#keys.get(text) ?? new PrivateKey(text)
    this.#keys.set(text, key)
    return key
  }
}

/** Replaces the ssh agent that the library asks for signatures. */
class PrivateKey extends BaseAgent<ParsedKey> {
  readonly #key: ParsedKey
  readonly #secret: KeyObject

  constructor(text: string) {
    super()
    try {
      const key = ssh2.utils.parseKey(text)
      if (key instanceof Error) throw key
      this.#key = key
      this.#secret = createPrivateKey(key.getPrivatePEM())
    } catch {
      // The error may quote the key.
      throw new Error('the private key cannot be read')
    }
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
