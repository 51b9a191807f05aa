import type { Broker } from '@slipway/broker'
import type { Database } from '@slipway/database'
import type { AddressRange, Limits } from '@slipway/limits'
import type { DestinationRules, HealthReport, KeyRing, Logger } from '@slipway/runtime'
import type { Cache } from './cache.ts'
import type { AccessTokens } from './credentials/access-token.ts'
import type { PasswordHasher } from './credentials/passwords.ts'

/** How many bytes the content store holds at most; 0 is unlimited. */
export interface ContentLimits {
  /** For each tenant. Users without tenant count as one more tenant. */
  tenantBytes: number
  totalBytes: number
}

/** Everything that handlers work with; made once in main.ts. */
export interface Dependencies {
  database: Database
  broker: Pick<Broker, 'request'>
  cache: Cache
  keys: KeyRing
  accessTokens: AccessTokens
  passwords: PasswordHasher
  /** Whether browsers may send the refresh cookie over HTTPS only. */
  cookieSecure: boolean
  limits: Limits
  /** Whose X-Forwarded-For is believed. */
  trustedProxies: AddressRange[]
  contentLimits: ContentLimits
  /** How many freezes that have not ended a tenant may have. */
  freezesPerTenant: number
  /** Where webhooks may lead. */
  webhookDestinations: DestinationRules
  logger: Logger
  /** Prefix of names in Redis. */
  namespace: string
  /** Where live streams are served. */
  logStreamUrl: string
  readiness(): Promise<HealthReport>
  /** Whether the database has been reached and prepared since the start. */
  hasDatabase(): boolean
  /** Called after a transaction that put messages into the outbox. */
  outboxChanged(): void
}
