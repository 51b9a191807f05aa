import { md5OfBlock } from './md5.ts'

export const STEP_ID_BYTES = 36

const BLOCK_BYTES = 64
/** What of a block the length of the text leaves. */
const TEXT_BYTES = 55
const END = 0x80
const SLASH = '/'.charCodeAt(0)
const ZERO = '0'.charCodeAt(0)
const DASH = '-'.charCodeAt(0)
const EIGHT = '8'.charCodeAt(0)
/** Where the bytes stand in the text, the dashes between them, and the digits that say that it is of version 8. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
const DASHES = [8, 13, 18, 23]
const EIGHTS = [14, 19]
const DIGITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))

/**
 * The ids of a deployment's steps, which follow from their places in the plan, so that 200,000 steps need no index for
 * them: MD5 of `deployment/target/action` as a version 8 UUID; the same rule in SQL: `step_id()` in the migrations.
 */
export class StepIds {
  readonly #words = new Int32Array(BLOCK_BYTES / 4)
  readonly #text = new Uint8Array(this.#words.buffer)
  readonly #digestWords = new Int32Array(4)
  readonly #digest = new Uint8Array(this.#digestWords.buffer)
  readonly #start: number

  constructor(deploymentId: string) {
    const { written } = new TextEncoder().encodeInto(`${deploymentId.toLowerCase()}/`, this.#text)
    this.#start = written
  }

  /** Writes an id as text, STEP_ID_BYTES long. */
  write(targetIndex: number, actionIndex: number, into: Uint8Array, at: number): void {
    const slash = this.#number(targetIndex, this.#start)
    this.#text[slash] = SLASH
    const end = this.#number(actionIndex, slash + 1)
    if (end > TEXT_BYTES) throw new RangeError('the place of a step has too many digits')
    this.#text.fill(0, end)
    this.#text[end] = END
    this.#words[14] = end * 8
    md5OfBlock(this.#words, this.#digestWords)
    const digest = this.#digest
    for (let byte = 0; byte < digest.length; byte += 1) {
      const value = digest[byte] as number
      const place = at + (PLACES[byte] as number)
      into[place] = DIGITS[value >> 4] as number
      into[place + 1] = DIGITS[value & 15] as number
    }
    for (const dash of DASHES) into[at + dash] = DASH
    for (const eight of EIGHTS) into[at + eight] = EIGHT
  }

  /** Writes a number in digits; where it ends. */
  #number(value: number, at: number): number {
    const next = value < 10 ? at : this.#number(Math.floor(value / 10), at)
    this.#text[next] = ZERO + (value % 10)
    return next + 1
  }
}

let latest = { of: '', ids: new StepIds('') }

/** The id of one step; most often the next one is of the same deployment. */
export function stepId(deploymentId: string, targetIndex: number, actionIndex: number): string {
  if (latest.of !== deploymentId) latest = { of: deploymentId, ids: new StepIds(deploymentId) }
  const id = Buffer.allocUnsafe(STEP_ID_BYTES)
  latest.ids.write(targetIndex, actionIndex, id, 0)
  return id.toString('latin1')
}
