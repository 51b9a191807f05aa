import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { AgentEnrolResponse, compile, Strict, type TSchema } from '@slipway/contracts'
import { writeFileAtomically } from '@slipway/runtime'

/** The bridge's answer to the enrolment. `address` is the configured address of the agent, possibly empty. */
export const Enrolment = Strict({ ...AgentEnrolResponse.properties, bridge_url: Type.String(), address: Type.String() })
export type Enrolment = Static<typeof Enrolment>

const problemsOf = compile(Enrolment as TSchema)
const fileIn = (folder: string) => path.join(folder, 'enrolment.json')

/** The file holds the key, so only the user of the agent can read it. */
export function saveEnrolment(folder: string, enrolment: Enrolment): Promise<void> {
  return writeFileAtomically(fileIn(folder), `${JSON.stringify(enrolment, null, 2)}\n`)
}

/** The identity of this agent. A new enrolment file takes effect without a restart. */
export class Identity {
  readonly #file: string
  /** Identifies the version of the file. */
  #fileVersion = ''
  #enrolment: Enrolment | null = null
  #revokedCredential: string | null = null

  constructor(folder: string) {
    this.#file = fileIn(folder)
  }

  /** Null before the first enrolment. */
  get enrolment(): Enrolment | null {
    const found = statSync(this.#file, { bigint: true, throwIfNoEntry: false })
    const version = found ? `${found.ino} ${found.size} ${found.mtimeNs}` : ''
    if (version !== this.#fileVersion) {
      this.#enrolment = found ? read(this.#file) : null
      this.#fileVersion = version
    }
    return this.#enrolment
  }

  /** The enrolment that instances can authenticate with; null after a revocation. */
  get valid(): Enrolment | null {
    const { enrolment } = this
    return enrolment?.credential === this.#revokedCredential ? null : enrolment
  }

  /** Records whether the bridge accepts the enrolment. Returns whether that has changed. */
  setAccepted({ credential }: Enrolment, isAccepted: boolean): boolean {
    const revoked = isAccepted ? null : credential
    if (revoked === this.#revokedCredential) return false
    this.#revokedCredential = revoked
    return true
  }
}

function read(file: string): Enrolment {
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
  const [problem] = problemsOf(value)
  if (problem) throw new Error(`${file} is damaged (${problem.path} ${problem.message}): enrol again`)
  return value as Enrolment
}
