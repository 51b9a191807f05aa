import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { isNoSpace } from '@slipway/execution'
import { hashToken, KeyRing, randomToken, writeWhole } from '@slipway/runtime'

/** What the bridge gave this instance when it joined, and since then. */
export interface Membership {
  instance_id: string
  /** The name that it joined under. */
  name: string
  /** The credential that was last used with success, or the first one. */
  credential: string
  /** The credential that the bridge gave last, until a call with it succeeds. */
  next_credential: string | null
  /** When the newest of both was given. */
  credential_since: string
  lost_after_seconds: number
}

interface Stored {
  journal_key: string
  /** With it the same join can be repeated when its answer was lost. */
  join_key: string
  membership: Membership | null
  /** The hash of the token of the last join: it is good for no other join. */
  used_token_hash: string | null
}

/** The file as version 0.1.0 and earlier wrote it. Their credential is good for this version, too. */
interface StoredByEnrolment {
  journal_key: string
  enrolment: { instance_id: string; credential: string; lost_after_seconds: number; as: { name: string } } | null
}

/** Who this instance is, in a file that only it can read, so that a restart does not change it. */
export class Identity {
  readonly #file: string
  #stored: Stored
  #saving: Promise<void> = Promise.resolve()
  #isUnsaved = false

  private constructor(file: string, stored: Stored) {
    this.#file = file
    this.#stored = stored
  }

  /** Reads the file in this folder, or makes one. */
  static async open(folder: string): Promise<Identity> {
    const file = path.join(folder, 'identity.json')
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    const known = text === null ? null : (JSON.parse(text) as Stored | StoredByEnrolment)
    if (known !== null && 'join_key' in known) return new Identity(file, known)
    const identity = new Identity(file, {
      journal_key: known?.journal_key ?? `journal:${randomBytes(32).toString('base64')}`,
      join_key: randomToken(),
      membership: known === null ? null : membershipOf(known),
      used_token_hash: null,
    })
    await identity.#save()
    return identity
  }

  /** Seals what journals keep of secrets. */
  get journalKeys(): KeyRing {
    return KeyRing.parse(this.#stored.journal_key)
  }

  get joinKey(): string {
    return this.#stored.join_key
  }

  get membership(): Membership | null {
    return this.#stored.membership
  }

  /** The credential for calls to the bridge: the newest one. Null before the join. */
  get credential(): string | null {
    const { membership } = this.#stored
    return membership?.next_credential ?? membership?.credential ?? null
  }

  /** Whether this token let the instance join the last time. */
  hasUsed(token: string): boolean {
    return this.#stored.used_token_hash === hashToken(token)
  }

  async join(membership: Membership, token: string): Promise<void> {
    this.#stored = { ...this.#stored, membership, used_token_hash: hashToken(token) }
    await this.#saveIfRoom()
  }

  /** The instance was removed. The key of its join goes with it: a new join is no repetition. */
  async leave(): Promise<void> {
    this.#stored = { ...this.#stored, membership: null, join_key: randomToken() }
    await this.#saveIfRoom()
  }

  /**
   * Stores a new credential beside the one that is known to be good. It is used only when it is on the disk: its first use
   * ends the other one.
   */
  async takeCredential(next_credential: string, now = new Date()): Promise<void> {
    const change = { next_credential, credential_since: now.toISOString() }
    await this.#save(withChange(this.#stored, change))
    this.#stored = withChange(this.#stored, change)
  }

  /** A call with this credential has succeeded. */
  async accepted(credential: string): Promise<void> {
    if (this.#stored.membership?.next_credential !== credential) return
    await this.#change({ credential, next_credential: null })
  }

  /** The bridge refused this new credential: go on with the one before. False when there is no one before. */
  async goBackFrom(credential: string): Promise<boolean> {
    if (this.#stored.membership?.next_credential !== credential) return false
    await this.#change({ next_credential: null })
    return true
  }

  async #change(change: Partial<Membership>): Promise<void> {
    this.#stored = withChange(this.#stored, change)
    await this.#saveIfRoom()
  }

  /** Saves what found no room on the disk before. */
  async saveAgain(): Promise<void> {
    if (this.#isUnsaved) await this.#saveIfRoom()
  }

  /** On a full disk the change is kept in memory, until `saveAgain`. */
  async #saveIfRoom(): Promise<void> {
    this.#isUnsaved = false
    try {
      await this.#save()
    } catch (error) {
      if (!isNoSpace(error)) throw error
      this.#isUnsaved = true
    }
  }

  /** One after the other: they share the draft. */
  #save(stored?: Stored): Promise<void> {
    const text = () => `${JSON.stringify(stored ?? this.#stored, null, 2)}\n`
    const saved = this.#saving.then(() => writeWhole(this.#file, text()))
    this.#saving = saved.catch(() => {})
    return saved
  }
}

function withChange(stored: Stored, change: Partial<Membership>): Stored {
  return stored.membership === null ? stored : { ...stored, membership: { ...stored.membership, ...change } }
}

function membershipOf({ enrolment }: StoredByEnrolment): Membership | null {
  if (!enrolment) return null
  const { instance_id, credential, lost_after_seconds, as } = enrolment
  // Old enough that it is exchanged for a new one at once.
  const credential_since = new Date(0).toISOString()
  return { instance_id, name: as.name, credential, next_credential: null, credential_since, lost_after_seconds }
}
