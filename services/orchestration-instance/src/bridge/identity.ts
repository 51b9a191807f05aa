import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { KeyRing, writeWhole } from '@slipway/runtime'

/** What the bridge gave this instance when it joined. */
export interface Membership {
  instance_id: string
  credential: string
  lost_after_seconds: number
}

interface Stored {
  journal_key: string
  membership: Membership | null
}

/** Who this instance is, in a file that only it can read, so that a restart does not change it. */
export class Identity {
  readonly #file: string
  #stored: Stored
  #saving: Promise<void> = Promise.resolve()

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
    if (text !== null) return new Identity(file, JSON.parse(text) as Stored)
    const journalKey = `journal:${randomBytes(32).toString('base64')}`
    const identity = new Identity(file, { journal_key: journalKey, membership: null })
    await identity.#save()
    return identity
  }

  /** Seals what journals keep of secrets. */
  get journalKeys(): KeyRing {
    return KeyRing.parse(this.#stored.journal_key)
  }

  get membership(): Membership | null {
    return this.#stored.membership
  }

  async join(membership: Membership | null): Promise<void> {
    this.#stored = { ...this.#stored, membership }
    await this.#save()
  }

  /** One after the other: they share the draft. */
  #save(): Promise<void> {
    const saved = this.#saving.then(() => writeWhole(this.#file, `${JSON.stringify(this.#stored, null, 2)}\n`))
    this.#saving = saved.catch(() => {})
    return saved
  }
}
