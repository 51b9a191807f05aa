import { median as middle, ratio } from './rounds.mjs'

const round = (value) => Number(value.toPrecision(3))

/** One line of the table: the ratio of two series, the goal, and whether it is met. */
export function line(goal, what, above, below, limit) {
  const { median, from, to } = ratio(above, below)
  const [sign, bound] = limit.split(' ')
  const met = sign === '≥' ? median >= Number(bound) : median <= Number(bound)
  return { goal, what, ratio: round(median), spread: `${round(from)}–${round(to)}`, limit, met }
}

/** One line whose figures are measured against nothing but the goal. */
export const plain = (goal, what, values, limit) =>
  line(
    goal,
    what,
    values,
    values.map(() => 1),
    limit,
  )

/** A figure behind the ratios, without a goal of its own: one, or the median of its rounds. */
export const figure = (what, values) => ({ goal: '', what, ratio: round(middle([values].flat())) })
