import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { isNoSpace } from '@slipway/commands'
import { hashToken, KeyRing, randomToken, writeFileAtomically } from '@slipway/runtime'

export interface Membership {
  instance_id: string
  /** The name at the join. */
  name: string
  /** The newest credential with a successful call, or the first one. */
  credential: string
  /** The newest credential, until a call with it succeeds. */
  next_credential: string | null
  /** When the newest credential was issued. */
  credential_since: string
  lost_after_seconds: number
}

interface Stored {
  journal_key: string
  /** Lets the instance repeat a join when its answer was lost. */
  join_key: string
  membership: Membership | null
  /** The hash of the token of the last join. The token is not valid for another join. */
  used_token_hash: string | null
}

/** The identity of this instance, in a file that no other user can read. It survives a restart. */
export class Identity {
  readonly #file: string
  #stored: Stored
  #saving: Promise<void> = Promise.resolve()
  #isUnsaved = false

  private constructor(file: string, stored: Stored) {
    this.#file = file
    this.#stored = stored
  }

  /** Reads the file in this folder, or creates one. */
  static async open(folder: string): Promise<Identity> {
    const file = path.join(folder, 'identity.json')
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    if (text !== null) return new Identity(file, JSON.parse(text) as Stored)
    const identity = new Identity(file, {
      journal_key: `journal:${randomBytes(32).toString('base64')}`,
      join_key: randomToken(),
      membership: null,
      used_token_hash: null,
    })
    await identity.#save()
    return identity
  }

  /** The key that seals the secrets in journals. */
  get journalKeys(): KeyRing {
    return KeyRing.parse(this.#stored.journal_key)
  }

  get joinKey(): string {
    return this.#stored.join_key
  }

  get membership(): Membership | null {
    return this.#stored.membership
  }

  /** The newest credential; null before the join. */
  get credential(): string | null {
    const { membership } = this.#stored
    return membership?.next_credential ?? membership?.credential ?? null
  }

  /** Whether the last join used this token. */
  hasUsed(token: string): boolean {
    return this.#stored.used_token_hash === hashToken(token)
  }

  async join(membership: Membership, token: string): Promise<void> {
    this.#stored = { ...this.#stored, membership, used_token_hash: hashToken(token) }
    await this.#saveIfSpace()
  }

  /** Forgets the membership of a removed instance. The new join key makes the next join a new one. */
  async leave(): Promise<void> {
    this.#stored = { ...this.#stored, membership: null, join_key: randomToken() }
    await this.#saveIfSpace()
  }

  /**
   * Stores a new credential beside the current one. The new credential must be on the disk before its first use, because
   * that use ends the current one.
   */
  async storeNextCredential(next_credential: string, now = new Date()): Promise<void> {
    const change = { next_credential, credential_since: now.toISOString() }
    await this.#save(withChange(this.#stored, change))
    this.#stored = withChange(this.#stored, change)
  }

  /** A successful call with the next credential makes it the current one. */
  async confirmCredential(credential: string): Promise<void> {
    if (this.#stored.membership?.next_credential !== credential) return
    await this.#change({ credential, next_credential: null })
  }

  /** Drops the next credential after the bridge refused it. False if it was not the next one. */
  async revertCredential(credential: string): Promise<boolean> {
    if (this.#stored.membership?.next_credential !== credential) return false
    await this.#change({ next_credential: null })
    return true
  }

  async #change(change: Partial<Membership>): Promise<void> {
    this.#stored = withChange(this.#stored, change)
    await this.#saveIfSpace()
  }

  /** Saves a change that found no disk space before. */
  async saveIfUnsaved(): Promise<void> {
    if (this.#isUnsaved) await this.#saveIfSpace()
  }

  /** On a full disk the change stays in memory until `saveIfUnsaved`. */
  async #saveIfSpace(): Promise<void> {
    this.#isUnsaved = false
    try {
      await this.#save()
    } catch (error) {
      if (!isNoSpace(error)) throw error
      this.#isUnsaved = true
    }
  }

  /** Saves run one after the other, because they share the draft file. */
  #save(stored?: Stored): Promise<void> {
    const text = () => `${JSON.stringify(stored ?? this.#stored, null, 2)}\n`
    const saved = this.#saving.then(() => writeFileAtomically(this.#file, text()))
    this.#saving = saved.catch(() => {})
    return saved
  }
}

function withChange(stored: Stored, change: Partial<Membership>): Stored {
  return stored.membership === null ? stored : { ...stored, membership: { ...stored.membership, ...change } }
}
