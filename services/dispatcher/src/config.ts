import { Strict } from '@slipway/contracts'
import { commonConfig } from '@slipway/runtime'

const { REDIS_URL: _cache, ...needed } = commonConfig

/** The dispatcher's environment variables. The keys open what webhooks are signed with and show. */
export const dispatcherConfig = Strict(needed)
