/** How long a caller waits, in ms. */
export interface AnswerTimes {
  /** The receiver drops an older command, so a 503 after this time is true. */
  effectMs: number
  /** Longer than `effectMs`: a command that begins just before that time can still answer. */
  answerMs: number
  /** The longest time for an answer, whatever the database does (I28). */
  lastMs: number
}

export const ANSWER_TIMES: AnswerTimes = { effectMs: 8_000, answerMs: 9_000, lastMs: 10_000 }

/** Until when a call may take effect and wait for its result, by performance.now(). See AnswerTimes. */
export interface AnswerBounds {
  effect: number
  answer: number
  last: number
}

/** The bounds of a caller that waits since `since`, by performance.now(). */
export const boundsOf = (since: number, { effectMs, answerMs, lastMs }: AnswerTimes): AnswerBounds => ({
  effect: since + effectMs,
  answer: since + answerMs,
  last: since + lastMs,
})
