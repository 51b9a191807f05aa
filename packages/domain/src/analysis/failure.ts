import type { CommandFailureReason } from '../command-failure.ts'

/** A command that failed, with its masked output. */
export interface Failure {
  /** Null if a signal ended the command or its end is not known. */
  exit_code: number | null
  error_message: string | null
  reason: CommandFailureReason | null
  /** What the reason is about. See CommandFailure. */
  subject: string | null
  stdout_tail: string
  stderr_tail: string
  /** The name and host of the target. They do not distinguish kinds of failures, so fingerprints ignore them. */
  places?: readonly string[]
}

export interface Line {
  text: string
  lower: string
  /** The number of later lines of the same stream. */
  fromEnd: number
  origin: 'stderr' | 'stdout' | 'error'
  /** False for the first line of a tail that may begin in the middle of the line. */
  isWhole: boolean
}

const TAIL_CHARACTERS = 2_000
const LINE_CHARACTERS = 400
const ESCAPE = String.fromCharCode(27)
/** Terminal escape sequences: colours and cursor movements. */
const ESCAPES = new RegExp(`${ESCAPE}(?:\\[[0-9;?]{0,20}[A-Za-z]|[()][A-Z0-9])`, 'g')
const UNPRINTABLE = /[\p{Cc}\p{Cs}\ufffd]/gu

/** The lines that rules match, the last line first. Limits the number and length of lines. */
export function linesOf({ stderr_tail, stdout_tail, error_message }: Failure): Line[] {
  return [
    ...split(stderr_tail, 'stderr'),
    ...split(stdout_tail, 'stdout'),
    ...split((error_message ?? '').slice(0, TAIL_CHARACTERS), 'error'),
  ]
}

/** The text without control characters and half characters, not too long. */
export const printable = (text: string) => text.replace(UNPRINTABLE, ' ').trim().slice(0, LINE_CHARACTERS)

function split(text: string, origin: Line['origin']): Line[] {
  return text
    .slice(-TAIL_CHARACTERS)
    .replace(ESCAPES, '')
    .split(/\r?\n|\r/)
    .map((line, at) => ({ text: printable(line), isWhole: at > 0 || text.length < TAIL_CHARACTERS }))
    .filter((line) => line.text !== '')
    .reverse()
    .map((line, fromEnd) => ({ ...line, lower: line.text.toLowerCase(), fromEnd, origin }))
}
