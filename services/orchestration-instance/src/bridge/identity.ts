import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { KeyRing, randomToken, writeWhole } from '@slipway/runtime'

/** What the bridge gave us, and what we had told it. */
export interface Enrolment {
  instance_id: string
  credential: string
  heartbeat_seconds: number
  lost_after_seconds: number
  /** A restart with other settings enrols anew, so that the bridge learns of them. */
  as: { name: string; version: string; base_url: string; capacity: number; labels: { [label: string]: string } }
}

interface Stored {
  callback_token: string
  journal_key: string
  enrolment: Enrolment | null
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
    const identity = new Identity(file, { callback_token: randomToken(), journal_key: journalKey, enrolment: null })
    await identity.#save()
    return identity
  }

  /** What the bridge has to show when it calls. */
  get callbackToken(): string {
    return this.#stored.callback_token
  }

  /** Seals what journals keep of secrets. */
  get journalKeys(): KeyRing {
    return KeyRing.parse(this.#stored.journal_key)
  }

  get enrolment(): Enrolment | null {
    return this.#stored.enrolment
  }

  async enrol(enrolment: Enrolment | null): Promise<void> {
    this.#stored = { ...this.#stored, enrolment }
    await this.#save()
  }

  /** One after the other: they share the draft. */
  #save(): Promise<void> {
    const saved = this.#saving.then(() => writeWhole(this.#file, `${JSON.stringify(this.#stored, null, 2)}\n`))
    this.#saving = saved.catch(() => {})
    return saved
  }
}
