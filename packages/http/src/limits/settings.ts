import { ConfigurationError, type ConfigurationProblem } from '@slipway/runtime'
import { type AddressRange, parseRange } from '../client-address.ts'
import type { LoginVariables, RateVariables } from './variables.ts'

/** The allowed requests: `rps` a second in the long run, `burst` at once. */
export interface Rate {
  rps: number
  burst: number
}

/** A limit by address; null is no limit. */
export type ByAddress<T> = (address: string) => T | null

interface RateSettings {
  /** Proxies with an X-Forwarded-For that the service believes. */
  trustedProxies: AddressRange[]
  rate: ByAddress<Rate>
}

export interface LimitSettings extends RateSettings {
  loginAttemptsPerMinute: ByAddress<number>
  loginLockoutSeconds: number
}

/** The default burst of a range is what its rate allows in this time, the same ratio as in the default settings. */
const BURST_SECONDS = 2
const MAX_FIGURE = 1_000_000

/** @throws ConfigurationError naming each variable that cannot be read */
export function readRateSettings(variables: RateVariables): RateSettings {
  const lists = new ListReader()
  const settings = rateSettings(variables, lists)
  lists.throwIfWrong()
  return settings
}

/** @throws ConfigurationError naming each variable that cannot be read */
export function readLimitSettings(variables: RateVariables & LoginVariables): LimitSettings {
  const lists = new ListReader()
  const settings = rateSettings(variables, lists)
  const { SLIPWAY_LOGIN_OVERRIDES: overrides, SLIPWAY_LOGIN_ATTEMPTS_PER_MINUTE: attempts } = variables
  const logins = lists.read('SLIPWAY_LOGIN_OVERRIDES', overrides, '10.0.0.0/8=100', (entry) =>
    override(entry, parseFigure),
  )
  lists.throwIfWrong()
  return {
    ...settings,
    loginAttemptsPerMinute: byAddress(logins, attempts || null),
    loginLockoutSeconds: variables.SLIPWAY_LOGIN_LOCKOUT_SECONDS,
  }
}

function rateSettings(variables: RateVariables, lists: ListReader): RateSettings {
  const { SLIPWAY_TRUSTED_PROXIES: proxies, SLIPWAY_RATE_LIMIT_OVERRIDES: overrides } = variables
  const { SLIPWAY_RATE_LIMIT_RPS: rps, SLIPWAY_RATE_LIMIT_BURST: burst } = variables
  const trustedProxies = lists.read('SLIPWAY_TRUSTED_PROXIES', proxies, '10.0.0.0/8', parseRange)
  const rates = lists.read('SLIPWAY_RATE_LIMIT_OVERRIDES', overrides, '10.0.0.0/8=1000', (entry) =>
    override(entry, parseRate),
  )
  return { trustedProxies, rate: byAddress(rates, rps === 0 ? null : { rps, burst }) }
}

/** Reads variables that are lists, and collects all problems. */
class ListReader {
  readonly #problems: ConfigurationProblem[] = []

  read<T>(variable: string, list = '', example: string, parse: (entry: string) => T | null): T[] {
    const parsed = entriesOf(list).map((entry) => [entry, parse(entry)] as const)
    const wrong = parsed.filter(([, value]) => value === null).map(([entry]) => JSON.stringify(entry))
    if (wrong.length > 0) {
      const problem = `cannot be read: ${wrong.join(', ')} should look like ${example}`
      this.#problems.push({ variable, problem, example })
    }
    return parsed.flatMap(([, value]) => (value === null ? [] : [value]))
  }

  throwIfWrong(): void {
    if (this.#problems.length > 0) throw new ConfigurationError(this.#problems)
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

/** Parses `RANGE=VALUE`. The value 0 means no limit. */
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

/** Parses `1000`, or `1000:5000` with a burst. */
function parseRate(text: string): Rate | 'none' | undefined {
  const [rpsText = '', burstText, ...rest] = text.split(':')
  const rps = parseFigure(rpsText)
  const burst = burstText === undefined ? undefined : parseFigure(burstText)
  if (rps === undefined || rest.length > 0) return undefined
  if (burstText !== undefined && typeof burst !== 'number') return undefined
  if (rps === 'none') return burstText === undefined ? 'none' : undefined
  return { rps, burst: typeof burst === 'number' ? burst : rps * BURST_SECONDS }
}

/** The narrowest range that contains an address decides. */
function byAddress<T>(overrides: Override<T>[], otherwise: T | null): ByAddress<T> {
  const narrowestFirst = [...overrides].sort((a, b) => b.range.prefixBits - a.range.prefixBits)
  return (address) => {
    const own = narrowestFirst.find(({ range }) => range.contains(address))
    return own === undefined ? otherwise : own.value
  }
}
