import { describePlace } from '../report.ts'
import { table } from '../table.ts'
import { type JudgedSeries, NEGLIGIBLE, type Unit } from './series.ts'

export interface Soak {
  seed: number
  minutes: number
  /** Minutes that were not judged. */
  warmUp: number
  /** How many calls of each kind. */
  calls: Record<string, number>
  /** Events that the webhook received. */
  delivered: number
  /** Answers that must not occur without a fault. */
  unexpected: string[]
  /** Processes that ended by themselves or with an error. */
  ended: string[]
  series: JudgedSeries[]
}

const MIB = 1024 * 1024

function amount(value: number, unit: Unit): string {
  if (unit === 'bytes') return `${(value / MIB).toFixed(1)} MiB`
  const digits = Math.abs(value) >= 100 ? 0 : 1
  return `${value.toLocaleString('en-US', { maximumFractionDigits: digits })}${unit === 'count' ? '' : ` ${unit}`}`
}

const HEAD = ['of', 'what', 'mean', 'in an hour', 'interval', 'verdict']

function rows(series: readonly JudgedSeries[]): string[][] {
  return series.map(({ place, name, unit, mean, slope, low, high, verdict }) => [
    place,
    name,
    amount(mean, unit),
    amount(slope, unit),
    `${amount(low, unit)} to ${amount(high, unit)}`,
    verdict,
  ])
}

export function describeSoak(soak: Soak): string {
  const series = [...soak.series].sort((a, b) => a.place.localeCompare(b.place) || a.name.localeCompare(b.name))
  const judged = series.filter(({ isJudged }) => isJudged)
  const others = series.filter(({ isJudged, mean }) => !isJudged && mean > 0)
  const counted = (verdict: JudgedSeries['verdict']) => judged.filter((one) => one.verdict === verdict).length
  const hasTrend = judged.filter(({ verdict }) => verdict !== 'flat')
  // Series that never changed are left out of the table.
  const flat = judged.filter(({ verdict, low, high }) => verdict === 'flat' && (low !== 0 || high !== 0))
  const calls = Object.entries(soak.calls).map(([what, count]) => `${count.toLocaleString('en-US')} ${what}`)
  const small = Object.entries(NEGLIGIBLE).map(
    ([unit, { part, least }]) => `${part * 100} % or ${amount(least, unit as Unit)}`,
  )
  return [
    `${soak.minutes} minutes, of which the first ${soak.warmUp} are not judged; ${describePlace()}.\n` +
      `Calls: ${calls.join(', ')}; ${soak.delivered.toLocaleString('en-US')} events delivered; ` +
      `${soak.unexpected.length} unexpected answers; ${soak.ended.length} processes ended.`,
    table(
      ['series', 'number'],
      [
        ['flat', String(counted('flat'))],
        ['of these always the same', String(counted('flat') - flat.length)],
        ['growing', String(counted('growing'))],
        ['shrinking', String(counted('shrinking'))],
        ['too short', String(counted('too short'))],
      ],
    ),
    `Negligible in an hour, the larger of each pair: ${[...new Set(small)].join('; ')}.`,
    ...(hasTrend.length === 0 ? [] : [table(HEAD, rows(hasTrend))]),
    table(HEAD, rows(flat)),
    'Not judged: history, which grows with the work that was done until retention takes it away, and the compiled code of each process:',
    table(HEAD, rows(others)),
  ].join('\n\n')
}
