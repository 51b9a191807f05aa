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

const number = (value) => (value >= 1_000 ? Math.round(value).toLocaleString('en-US') : String(value))

/** The report as a table of docs/performance.md: first the goals, then the figures behind them. */
export function tableOf(report, commit) {
  const rows = report
    .toSorted((a, b) => (a.goal || Number.POSITIVE_INFINITY) - (b.goal || Number.POSITIVE_INFINITY))
    .map(({ goal, what, limit = '', ratio: value, spread, met }) => {
      const verdict = met === undefined ? '' : met ? 'yes' : '**no**'
      return [goal, what, limit, spread ? `${number(value)} (${spread})` : number(value), verdict, `\`${commit}\``]
    })
  const cells = [['goal', 'what', 'limit', 'measured (spread)', 'met', 'commit'], ...rows].map((row) => row.map(String))
  const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)))
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`
  const [head, ...others] = cells
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...others.map(line)].join('\n')
}
