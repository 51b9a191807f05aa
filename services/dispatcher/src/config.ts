import { Strict } from '@slipway/contracts'
import { commonConfig } from '@slipway/runtime'

const { REDIS_URL: _cache, SLIPWAY_ENCRYPTION_KEYS: _keys, ...needed } = commonConfig

/** The dispatcher's environment variables. It opens no secrets, so it has no keys. */
export const dispatcherConfig = Strict(needed)
