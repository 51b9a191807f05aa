import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { AgentEnrolResponse, compile, Strict, type TSchema } from '@slipway/contracts'
import { writeWhole } from '@slipway/runtime'

/** What the bridge gave this agent when it enrolled; `address` is where it then was to be found, empty for anywhere. */
export const Enrolment = Strict({ ...AgentEnrolResponse.properties, bridge_url: Type.String(), address: Type.String() })
export type Enrolment = Static<typeof Enrolment>

const problemsOf = compile(Enrolment as TSchema)
const fileIn = (folder: string) => path.join(folder, 'enrolment.json')

/** Only the agent's user can read it: it holds the key. */
export function saveEnrolment(folder: string, enrolment: Enrolment): Promise<void> {
  return writeWhole(fileIn(folder), `${JSON.stringify(enrolment, null, 2)}\n`)
}

/** Who this agent is. A new enrolment counts from the moment that its file is there; no restart is needed. */
export class Identity {
  readonly #file: string
  #seal = ''
  #enrolment: Enrolment | null = null
  /** The credential of which the bridge said that it is good no more. */
  #revoked: string | null = null

  constructor(folder: string) {
    this.#file = fileIn(folder)
  }

  /** Null before it is enrolled. */
  get enrolment(): Enrolment | null {
    const found = statSync(this.#file, { bigint: true, throwIfNoEntry: false })
    const seal = found ? `${found.ino} ${found.size} ${found.mtimeNs}` : ''
    if (seal !== this.#seal) {
      this.#enrolment = found ? read(this.#file) : null
      this.#seal = seal
    }
    return this.#enrolment
  }

  /** Whom instances may speak with here: null as well once the bridge has revoked it. */
  get valid(): Enrolment | null {
    const { enrolment } = this
    return enrolment?.credential === this.#revoked ? null : enrolment
  }

  /** Notes what the bridge says of a credential. Returns whether that is news. */
  judge({ credential }: Enrolment, isGood: boolean): boolean {
    const revoked = isGood ? null : credential
    if (revoked === this.#revoked) return false
    this.#revoked = revoked
    return true
  }
}

function read(file: string): Enrolment {
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
  const [problem] = problemsOf(value)
  if (problem) throw new Error(`${file} is damaged (${problem.path} ${problem.message}): enrol again`)
  return value as Enrolment
}
