import { ConfigurationError } from '@slipway/runtime'
import type { BridgeConfig } from '../config.ts'
import type { ServiceAccountRules } from './service-accounts.ts'

/**
 * The settings by which pods join; null if pods do not join with service accounts.
 * @throws ConfigurationError if the settings do not fit together
 */
export function serviceAccountRules(config: BridgeConfig): ServiceAccountRules | null {
  const issuer = config.SLIPWAY_KUBERNETES_ISSUER
  if (issuer === undefined) return null
  const accounts = config.SLIPWAY_KUBERNETES_SERVICE_ACCOUNTS
  if (accounts === undefined) {
    const problem = 'is missing: SLIPWAY_KUBERNETES_ISSUER is set, and the bridge must be told who may join'
    const example = 'slipway/orchestration-instance'
    throw new ConfigurationError([{ variable: 'SLIPWAY_KUBERNETES_SERVICE_ACCOUNTS', problem, example }])
  }
  return {
    issuer,
    audience: config.SLIPWAY_KUBERNETES_AUDIENCE,
    accounts: accounts.split(',').map((account) => account.trim()),
    keysUrl: config.SLIPWAY_KUBERNETES_KEYS_URL,
    caFile: config.SLIPWAY_KUBERNETES_CA_FILE,
    tokenFile: config.SLIPWAY_KUBERNETES_TOKEN_FILE,
  }
}
