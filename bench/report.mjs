import { ratio } from './rounds.mjs'

const round = (value) => Number(value.toPrecision(3))

/** One line of the table: the ratio of two series, the goal, and whether it is met. */
export function line(goal, what, above, below, limit) {
  const { median, from, to } = ratio(above, below)
  const [sign, bound] = limit.split(' ')
  const met = sign === '≥' ? median >= Number(bound) : median <= Number(bound)
  return { goal, what, ratio: round(median), spread: `${round(from)}–${round(to)}`, limit, met }
}
