/** A measured value, and its time in minutes after the begin. */
export interface Sample {
  minute: number
  value: number
}

export type Verdict = 'flat' | 'growing' | 'shrinking' | 'too short'

export interface Trend {
  verdict: Verdict
  /** Of all samples after the warm-up. */
  mean: number
  /** Per hour, with its confidence interval. */
  slope: number
  low: number
  high: number
  /** The value of each minute. */
  windows: number[]
}

/** The probability on each side of an interval of 95 %. */
const TAIL = 0.025
/** With fewer windows the verdict is `too short`. */
const LEAST_WINDOWS = 4

/** How a series is judged. */
export interface Judgement {
  /** The change in an hour that does not matter, in the unit of the series. */
  negligible: (mean: number) => number
  /** What the same work cost in each of these minutes. Its influence is taken out, as by a second explaining variable. */
  floor?: readonly Sample[]
  /**
   * How many series are judged together. All intervals together are right with a probability of 95 %: among a hundred intervals that
   * are each right with 95 %, several are wrong. The correction is that of Bonferroni.
   */
  together?: number
}

/** The slope of a series by ordinary least squares. Samples of one minute depend on each other, so their mean is one window. */
export function trendOf(samples: readonly Sample[], { negligible, floor = [], together = 1 }: Judgement): Trend {
  const windows = windowsOf(samples)
  const values = windows.map(({ value }) => value)
  const mean = average(values)
  const floors = new Map(windowsOf(floor).map(({ minute, value }) => [minute, value]))
  const explaining = floors.size === 0 ? [] : windows.map(({ minute }) => floors.get(minute) ?? 0)
  const freedom = windows.length - (floors.size === 0 ? 2 : 3)
  if (windows.length < LEAST_WINDOWS) {
    return { verdict: 'too short', mean, slope: 0, low: 0, high: 0, windows: values }
  }
  const minutes = unexplained(
    windows.map(({ minute }) => minute),
    explaining,
  )
  const changes = unexplained(values, explaining)
  const spread = product(minutes, minutes)
  const perMinute = product(minutes, changes) / spread
  const residuals = changes.map((change, n) => change - perMinute * (minutes[n] ?? 0))
  const error = Math.sqrt(product(residuals, residuals) / freedom / spread) * dependence(residuals)
  const slope = perMinute * 60
  const margin = studentQuantile(freedom, TAIL / together) * error * 60
  const [low, high] = [slope - margin, slope + margin]
  const isFlat = (low <= 0 && high >= 0) || Math.abs(slope) <= negligible(mean)
  const verdict = isFlat ? 'flat' : slope > 0 ? 'growing' : 'shrinking'
  return { verdict, mean, slope, low, high, windows: values }
}

/** The differences from the mean, less what a line by another variable explains. */
function unexplained(values: readonly number[], others: readonly number[]): number[] {
  const differences = differencesOf(values)
  const explaining = differencesOf(others)
  const spread = product(explaining, explaining)
  const perOne = spread === 0 ? 0 : product(explaining, differences) / spread
  return differences.map((difference, n) => difference - perOne * (explaining[n] ?? 0))
}

function differencesOf(values: readonly number[]): number[] {
  const mean = average(values)
  return values.map((value) => value - mean)
}

/** The mean of each minute. */
function windowsOf(samples: readonly Sample[]): Sample[] {
  const minutes = new Map<number, number[]>()
  for (const { minute, value } of samples) {
    const whole = Math.floor(minute)
    minutes.set(whole, [...(minutes.get(whole) ?? []), value])
  }
  return [...minutes].sort(([a], [b]) => a - b).map(([minute, values]) => ({ minute, value: average(values) }))
}

/** The factor by which autocorrelation widens the interval. The residuals are treated as an AR(1) process. */
function dependence(residuals: readonly number[]): number {
  const total = product(residuals, residuals)
  if (total === 0) return 1
  const shared = product(residuals.slice(1), residuals)
  const correlation = Math.min(0.9, Math.max(0, shared / total))
  return Math.sqrt((1 + correlation) / (1 - correlation))
}

/**
 * The value that Student's t distribution exceeds with the probability `tail`. Exact for 1 and 2 degrees of freedom, else by the expansion
 * of Cornish and Fisher: off by 1 % at 3 degrees of freedom and a tail of 2.5 %, and from 30 degrees of freedom on at every tail.
 */
export function studentQuantile(freedom: number, tail: number): number {
  if (freedom === 1) return 1 / Math.tan(Math.PI * tail)
  if (freedom === 2) return (1 - 2 * tail) / Math.sqrt(2 * tail * (1 - tail))
  const z = normalQuantile(tail)
  const terms = [
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
  ]
  return terms.reduce((quantile, term, index) => quantile + term / freedom ** (index + 1), z)
}

/** The same for the normal distribution, by formula 26.2.23 of Abramowitz and Stegun, for tails up to 0.5. Off by less than 0.00045. */
function normalQuantile(tail: number): number {
  const t = Math.sqrt(-2 * Math.log(tail))
  return t - (2.515517 + 0.802853 * t + 0.010328 * t ** 2) / (1 + 1.432788 * t + 0.189269 * t ** 2 + 0.001308 * t ** 3)
}

const product = (some: readonly number[], others: readonly number[]) =>
  sum(some.map((one, n) => one * (others[n] ?? 0)))
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const average = (values: readonly number[]) => (values.length === 0 ? 0 : sum(values) / values.length)
