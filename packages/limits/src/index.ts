export { type AddressRange, limitKey, parseRange, plainAddress } from './address-ranges.ts'
export { clientAddress } from './client-address.ts'
export { COUNTED_HEADER, countedMark, isCounted } from './counted.ts'
export { createGeneralLimit, type GeneralLimit } from './general-limit.ts'
export { createLimits, type Limits } from './limits.ts'
export { connectLimits, type LimitsRedis } from './redis.ts'
export { refuseFlood } from './refuse-flood.ts'
export {
  type LimitSettings,
  type Rate,
  readLimitSettings,
  readRateSettings,
} from './settings.ts'
export { loginVariables, rateVariables } from './variables.ts'
