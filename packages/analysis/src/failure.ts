/** A command that failed, with its masked output. */
export interface Failure {
  /** Null where a signal ended it, or nobody knows. */
  exit_code: number | null
  /** What the instance says of its end. */
  error_message: string | null
  stdout_tail: string
  stderr_tail: string
  /** What the target is called, and by what host it is reached: nothing that tells kinds of failures apart. */
  places?: readonly string[]
}

/** A line of a failure, as rules read it. */
export interface Line {
  text: string
  lower: string
  /** How many lines of its stream follow it. */
  fromEnd: number
  origin: 'stderr' | 'stdout' | 'error'
}

const TAIL_CHARACTERS = 2_000
const LINE_CHARACTERS = 400
const ESCAPE = String.fromCharCode(27)
/** Colours and movements of the cursor. */
const ESCAPES = new RegExp(`${ESCAPE}(?:\\[[0-9;?]{0,20}[A-Za-z]|[()][A-Z0-9])`, 'g')
const UNPRINTABLE = /[\p{Cc}\p{Cs}\ufffd]/gu

/** What of a failure rules look at: never more than some thousand characters, in short lines, last lines first. */
export function linesOf({ stderr_tail, stdout_tail, error_message }: Failure): Line[] {
  return [
    ...split(stderr_tail, 'stderr'),
    ...split(stdout_tail, 'stdout'),
    ...split((error_message ?? '').slice(0, TAIL_CHARACTERS), 'error'),
  ]
}

function split(text: string, origin: Line['origin']): Line[] {
  return text
    .slice(-TAIL_CHARACTERS)
    .replace(ESCAPES, '')
    .split(/\r?\n|\r/)
    .map((line) => line.replace(UNPRINTABLE, ' ').trim().slice(0, LINE_CHARACTERS))
    .filter((line) => line !== '')
    .reverse()
    .map((line, fromEnd) => ({ text: line, lower: line.toLowerCase(), fromEnd, origin }))
}
