import { ConfigurationError, type ConfigurationProblem } from '@slipway/runtime'
import { type AddressRange, parseRange } from './address-ranges.ts'

/** How many requests: `rps` in a second for as long as one likes, `burst` at once. */
export interface Rate {
  rps: number
  burst: number
}

/** A setting that differs by address; null where there is no limit. */
export type ByAddress<T> = (address: string) => T | null

export interface LimitSettings {
  /** Whose word on an earlier address is taken. */
  trustedProxies: AddressRange[]
  rate: ByAddress<Rate>
  loginAttemptsPerMinute: ByAddress<number>
  loginLockoutSeconds: number
}

/** The variables of the limits, read already; see config.ts for what they mean. */
export interface LimitVariables {
  SLIPWAY_TRUSTED_PROXIES?: string | undefined
  SLIPWAY_RATE_LIMIT_RPS: number
  SLIPWAY_RATE_LIMIT_BURST: number
  SLIPWAY_RATE_LIMIT_OVERRIDES?: string | undefined
  SLIPWAY_LOGIN_ATTEMPTS_PER_MINUTE: number
  SLIPWAY_LOGIN_OVERRIDES?: string | undefined
  SLIPWAY_LOGIN_LOCKOUT_SECONDS: number
}

/** Without an own burst a range may do at once what it may do in so many seconds, like everybody else by default. */
const BURST_SECONDS = 2
const MAX_FIGURE = 1_000_000

/** @throws ConfigurationError naming each variable that cannot be read */
export function readLimitSettings(variables: LimitVariables): LimitSettings {
  const problems: ConfigurationProblem[] = []
  const read = <T>(variable: keyof LimitVariables, example: string, parse: (entry: string) => T | null): T[] => {
    const entries = entriesOf(String(variables[variable] ?? ''))
    const parsed = entries.map((entry) => [entry, parse(entry)] as const)
    const wrong = parsed.filter(([, value]) => value === null).map(([entry]) => JSON.stringify(entry))
    if (wrong.length > 0) {
      problems.push({ variable, problem: `cannot be read: ${wrong.join(', ')} should look like ${example}`, example })
    }
    return parsed.flatMap(([, value]) => (value === null ? [] : [value]))
  }

  const trustedProxies = read('SLIPWAY_TRUSTED_PROXIES', '10.0.0.0/8', parseRange)
  const rates = read('SLIPWAY_RATE_LIMIT_OVERRIDES', '10.0.0.0/8=1000', (entry) => override(entry, parseRate))
  const logins = read('SLIPWAY_LOGIN_OVERRIDES', '10.0.0.0/8=100', (entry) => override(entry, parseFigure))
  if (problems.length > 0) throw new ConfigurationError(problems)

  const { SLIPWAY_RATE_LIMIT_RPS: rps, SLIPWAY_RATE_LIMIT_BURST: burst } = variables
  return {
    trustedProxies,
    rate: byAddress(rates, rps === 0 ? null : { rps, burst }),
    loginAttemptsPerMinute: byAddress(logins, variables.SLIPWAY_LOGIN_ATTEMPTS_PER_MINUTE || null),
    loginLockoutSeconds: variables.SLIPWAY_LOGIN_LOCKOUT_SECONDS,
  }
}

const entriesOf = (list: string) =>
  list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')

interface Override<T> {
  range: AddressRange
  value: T | null
}

/** `RANGE=VALUE`, where 0 means no limit. */
function override<T>(entry: string, parse: (text: string) => T | 'none' | undefined): Override<T> | null {
  const [rangeText = '', valueText = '', ...rest] = entry.split('=').map((part) => part.trim())
  const range = parseRange(rangeText)
  const value = parse(valueText)
  if (range === null || value === undefined || rest.length > 0) return null
  return { range, value: value === 'none' ? null : value }
}

function parseFigure(text: string): number | 'none' | undefined {
  if (!/^\d{1,7}$/.test(text) || Number(text) > MAX_FIGURE) return undefined
  return Number(text) === 0 ? 'none' : Number(text)
}

/** `1000`, or `1000:5000` with an own burst. */
function parseRate(text: string): Rate | 'none' | undefined {
  const [rpsText = '', burstText, ...rest] = text.split(':')
  const rps = parseFigure(rpsText)
  const burst = burstText === undefined ? undefined : parseFigure(burstText)
  if (rps === undefined || rest.length > 0) return undefined
  if (burstText !== undefined && typeof burst !== 'number') return undefined
  if (rps === 'none') return burstText === undefined ? 'none' : undefined
  return { rps, burst: typeof burst === 'number' ? burst : rps * BURST_SECONDS }
}

/** The narrowest range that holds an address decides. */
function byAddress<T>(overrides: Override<T>[], otherwise: T | null): ByAddress<T> {
  const narrowestFirst = [...overrides].sort((a, b) => b.range.prefixBits - a.range.prefixBits)
  return (address) => {
    const own = narrowestFirst.find(({ range }) => range.contains(address))
    return own === undefined ? otherwise : own.value
  }
}
