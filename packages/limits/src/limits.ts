import type { Logger } from '@slipway/runtime'
import { createGeneralLimit, type GeneralLimit } from './general-limit.ts'
import { createLoginLimit, type LoginLimit } from './login-limit.ts'
import type { LimitsRedis } from './redis.ts'
import type { LimitSettings } from './settings.ts'

export interface Limits {
  general: GeneralLimit
  login: LoginLimit
}

interface LimitsOptions {
  redis: Pick<LimitsRedis, 'takeFromBucket' | 'countAttempt'>
  namespace: string
  settings: LimitSettings
  logger: Logger
}

export function createLimits({ redis, namespace, settings, logger }: LimitsOptions): Limits {
  const { rate, loginAttemptsPerMinute: attemptsPerMinute, loginLockoutSeconds: lockoutSeconds } = settings
  return {
    general: createGeneralLimit({ redis, namespace, rate, logger }),
    login: createLoginLimit({ redis, namespace, attemptsPerMinute, lockoutSeconds, logger }),
  }
}
