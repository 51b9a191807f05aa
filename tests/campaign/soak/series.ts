import { type Sample, type Trend, trendOf } from './trend.ts'

/** The series of what the same work cost; see floor.ts. */
export const FLOOR = { place: 'machine', name: 'CPU time of the same work' }
/** What depends on the speed of the machine. */
const BY_SPEED: ReadonlySet<Unit> = new Set(['ms', '%'])

export type Unit = 'bytes' | 'count' | '%' | 'ms'

export interface Series {
  /** What is measured: a process, a server, or calls. */
  place: string
  name: string
  unit: Unit
  /** What grows without being a leak is listed, not judged. */
  isJudged: boolean
  samples: Sample[]
}

export interface JudgedSeries extends Omit<Series, 'samples'>, Trend {}

/** The negligible change per hour: a part of the mean, and at least an absolute value. */
export const NEGLIGIBLE: Record<Unit, { part: number; least: number }> = {
  bytes: { part: 0.05, least: 1024 * 1024 },
  count: { part: 0.05, least: 1 },
  '%': { part: 0.1, least: 1 },
  ms: { part: 0.1, least: 2 },
}

const keyOf = (place: string, name: string) => `${place}\t${name}`

/** All series of a soak, by what they measure. */
export class Measurements {
  readonly #series = new Map<string, Series>()
  readonly #minute: () => number

  constructor(minute: () => number) {
    this.#minute = minute
  }

  add(place: string, name: string, unit: Unit, value: number, { isJudged = true, minute = this.#minute() } = {}) {
    const key = keyOf(place, name)
    const series = this.#series.get(key) ?? { place, name, unit, isJudged, samples: [] }
    series.samples.push({ minute, value })
    this.#series.set(key, series)
  }

  /** The trends after the warm-up. The last minute is left out: it is seldom a whole one. */
  trends(fromMinute: number, toMinute: number): JudgedSeries[] {
    const judged = (samples: readonly Sample[]) =>
      samples.filter(({ minute }) => minute >= fromMinute && minute < toMinute)
    const floor = judged(this.#series.get(keyOf(FLOOR.place, FLOOR.name))?.samples ?? [])
    const all = [...this.#series.values()]
    const together = Math.max(1, all.filter(({ isJudged }) => isJudged).length)
    return all.map(({ samples, ...series }) => {
      const { part, least } = NEGLIGIBLE[series.unit]
      const negligible = (mean: number) => Math.max(least, part * Math.abs(mean))
      const isBySpeed = series.isJudged && BY_SPEED.has(series.unit)
      return { ...series, ...trendOf(judged(samples), { negligible, together, floor: isBySpeed ? floor : [] }) }
    })
  }
}
