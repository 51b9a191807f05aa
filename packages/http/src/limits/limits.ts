import type { Logger } from '@slipway/runtime'
import { createExchangeLimit, type ExchangeLimit } from './exchange-limit.ts'
import { createGeneralLimit, type GeneralLimit } from './general-limit.ts'
import { createLoginLimit, type LoginLimit } from './login-limit.ts'
import type { LimitsRedis } from './redis.ts'
import type { LimitSettings, Rate } from './settings.ts'

export interface Limits {
  general: GeneralLimit
  login: LoginLimit
  exchange: ExchangeLimit
  /** Of logins with a provider: each step of one needs Redis, and some call the provider. */
  providerLogin: GeneralLimit
}

/** A company behind one address begins its day at once. A login has two steps, that of a program three. */
const PROVIDER_LOGIN: Rate = { rps: 2, burst: 120 }

interface LimitsOptions {
  redis: Pick<LimitsRedis, 'takeFromBucket' | 'countAttempt' | 'countFailure'>
  namespace: string
  settings: LimitSettings
  logger: Logger
  /** The longest wait for an answer of Redis, in milliseconds. For tests on a slow machine. */
  answerMs?: number
}

export function createLimits({ redis, namespace, settings, logger, answerMs }: LimitsOptions): Limits {
  const { rate, loginAttemptsPerMinute: attemptsPerMinute, loginLockoutSeconds: lockoutSeconds } = settings
  return {
    general: createGeneralLimit({ redis, namespace, rate, logger, answerMs }),
    providerLogin: createGeneralLimit({
      redis,
      namespace,
      purpose: 'provider-login:',
      // Addresses without a limit have none here either.
      rate: (address) => (rate(address) === null ? null : PROVIDER_LOGIN),
      logger,
      answerMs,
    }),
    login: createLoginLimit({ redis, namespace, attemptsPerMinute, lockoutSeconds, logger, answerMs }),
    exchange: createExchangeLimit({ redis, namespace, logger, answerMs }),
  }
}
