import { Strict } from '@slipway/contracts'
import { commonConfig } from '@slipway/runtime'

const { REDIS_URL: _unused, ...needed } = commonConfig

/** The planner's environment variables. */
export const plannerConfig = Strict(needed)
