export {
  COUNTED_HEADER,
  countedMark,
  createGeneralLimit,
  type GeneralLimit,
  isCounted,
} from './general-limit.ts'
export { createLimits, type Limits } from './limits.ts'
export { connectLimits, type LimitsRedis } from './redis.ts'
export { type LimitSettings, type Rate, readLimitSettings, readRateSettings } from './settings.ts'
export { loginVariables, rateVariables } from './variables.ts'
