import { ConfigurationError, checkedAddresses, type Logger, urlProblem } from '@slipway/runtime'
import type { BridgeConfig } from '../config.ts'
import type { Endpoint } from './endpoint.ts'

const PATH = '/chat/completions'

/**
 * The endpoint of the settings; null if there is none.
 * @throws ConfigurationError if the settings do not fit together
 */
export function endpointOf(config: BridgeConfig): Endpoint | null {
  const { SLIPWAY_ANALYSIS_URL: text, SLIPWAY_ANALYSIS_MODEL: model } = config
  if (text === undefined) return null
  const problem = urlProblem(text)
  if (problem) throw new ConfigurationError([{ variable: 'SLIPWAY_ANALYSIS_URL', problem }])
  if (model === undefined) {
    const problem = 'is missing: SLIPWAY_ANALYSIS_URL is set, and its endpoint must be told which model to use'
    throw new ConfigurationError([{ variable: 'SLIPWAY_ANALYSIS_MODEL', problem, example: 'gpt-4o-mini' }])
  }
  const url = new URL(text)
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path.endsWith(PATH) ? path : `${path}${PATH}`
  return {
    url,
    key: config.SLIPWAY_ANALYSIS_KEY ?? null,
    model,
    timeoutMs: config.SLIPWAY_ANALYSIS_TIMEOUT_SECONDS * 1_000,
    destinations: { allowPrivate: config.SLIPWAY_ANALYSIS_ALLOW_PRIVATE },
  }
}

/** Warns at the start if the address of the endpoint is not allowed, because every question would fail. */
export async function warnOfAddress({ url, destinations }: Endpoint, logger: Logger): Promise<void> {
  try {
    await checkedAddresses(url, destinations)
  } catch (error) {
    const hint = 'SLIPWAY_ANALYSIS_ALLOW_PRIVATE=true allows private addresses; until it can be called, the rules stand'
    logger.warn(`the analysis endpoint: its URL ${(error as Error).message}`, { hint })
  }
}
