import type { Broker } from '@slipway/broker'
import type { Database } from '@slipway/database'
import type { AddressRange } from '@slipway/http'
import type { Limits } from '@slipway/http/limits'
import type { DestinationRules, HealthReport, KeyRing, Logger } from '@slipway/runtime'
import type { Cache } from './cache.ts'
import type { AccessTokens } from './credentials/access-token.ts'
import type { PasswordHasher } from './credentials/passwords.ts'
import type { AnswerTimes } from './handler.ts'
import type { ProviderClients } from './login-providers/provider-client.ts'
import type { Providers } from './login-providers/providers-file.ts'
import type { TenantScripts } from './script-turns.ts'

/** The most bytes that the content store holds; 0 is unlimited. */
export interface ContentLimits {
  /** For each tenant. Users without tenant count as one more tenant. */
  tenantBytes: number
  totalBytes: number
}

/** Where issuers of tokens may be. */
export interface IssuerRules extends DestinationRules {
  /** Whether an issuer on this machine may use plain HTTP. */
  isDevelopment: boolean
  /** The longest time for an answer of an issuer; 5 s by default. For tests. */
  answerMs?: number
}

/** What handlers work with. main.ts creates it once. */
export interface Dependencies {
  database: Database
  broker: Pick<Broker, 'request'>
  cache: Cache
  keys: KeyRing
  scripts: TenantScripts
  accessTokens: AccessTokens
  passwords: PasswordHasher
  /** The clock of authenticator codes, in ms since 1970. */
  codeClock(): number
  /** Whether browsers may send the refresh cookie over HTTPS only. */
  cookieSecure: boolean
  /** Whether users may log in by password; if not, only users with `break_glass` may. */
  passwordLogin: boolean
  /** The OpenID Connect providers. */
  providers: Providers
  providerClients: ProviderClients
  limits: Limits
  answerTimes: AnswerTimes
  /** Proxies with an X-Forwarded-For that the gateway believes. */
  trustedProxies: AddressRange[]
  contentLimits: ContentLimits
  /** The most freezes that a tenant may have before they end. */
  freezesPerTenant: number
  /** The addresses that a webhook may call. */
  webhookDestinations: DestinationRules
  /** Where issuers of tokens of pipelines may be. */
  tokenIssuers: IssuerRules
  /** The clock of these tokens, in ms since 1970. */
  tokenClock(): number
  logger: Logger
  /** The prefix of keys in Redis. */
  namespace: string
  logStreamUrl: string
  readiness(): Promise<HealthReport>
  /** Whether the database has been reached and prepared since the start. */
  hasDatabase(): boolean
  /** Publishes the outbox at once. Call it after a transaction that wrote messages. */
  outboxChanged(): void
}
