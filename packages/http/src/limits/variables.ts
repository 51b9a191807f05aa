import { type Static, type TObject, Type } from '@sinclair/typebox'
import { integerVariable } from '@slipway/runtime'

/** For all services that clients reach. They need the same values, because they share the buckets. */
export const rateVariables = {
  SLIPWAY_TRUSTED_PROXIES: Type.Optional(
    Type.String({
      description: 'Proxies with a trusted X-Forwarded-For: address ranges, comma separated',
      examples: ['10.0.0.0/8,2001:db8::/32'],
    }),
  ),
  SLIPWAY_RATE_LIMIT_RPS: integerVariable({
    default: 100,
    maximum: 1_000_000,
    description: 'Requests a second that one client address may make in the long run; 0: no limit',
  }),
  SLIPWAY_RATE_LIMIT_BURST: integerVariable({
    default: 200,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Requests that one client address may make at once',
  }),
  SLIPWAY_RATE_LIMIT_OVERRIDES: Type.Optional(
    Type.String({
      description: 'Other limits by address, as <range>=<requests a second>[:<burst>], comma separated; 0: no limit',
      examples: ['10.0.0.0/8=1000:2000,127.0.0.0/8=0'],
    }),
  ),
}

/** For the service with the login. */
export const loginVariables = {
  SLIPWAY_LOGIN_ATTEMPTS_PER_MINUTE: integerVariable({
    default: 5,
    maximum: 1_000_000,
    description: 'Attempts to log in that one client address may make within a minute; 0: no limit',
  }),
  SLIPWAY_LOGIN_OVERRIDES: Type.Optional(
    Type.String({
      description: 'Other limits of attempts to log in by address, as <range>=<attempts>, comma separated; 0: no limit',
      examples: ['10.0.0.0/8=100'],
    }),
  ),
  SLIPWAY_LOGIN_LOCKOUT_SECONDS: integerVariable({
    default: 900,
    minimum: 1,
    maximum: 86_400,
    description: 'Seconds for which an address is locked out after too many attempts to log in',
  }),
}

export type RateVariables = Static<TObject<typeof rateVariables>>
export type LoginVariables = Static<TObject<typeof loginVariables>>
