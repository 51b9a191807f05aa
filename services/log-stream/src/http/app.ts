import type { RequestListener } from 'node:http'
import { isConnectionError } from '@slipway/database'
import { Problem } from '@slipway/domain'
import { type AddressRange, createListener } from '@slipway/http'
import { type GeneralLimit, isCounted } from '@slipway/http/limits'
import type { KeyRing } from '@slipway/runtime'
import { createRoutes, type LogStream } from './routes.ts'

export interface RateLimit {
  general: GeneralLimit
  trustedProxies: AddressRange[]
  /** The keys with which the gateway marks requests that it has counted. */
  keys: KeyRing
}

/**
 * The streams, which clients reach through the gateway. The token in the query is the only authentication. The limit is the
 * general limit of the gateway, for clients that an ingress sends here directly.
 */
export function createApp(stream: LogStream, { general, trustedProxies, keys }: RateLimit): RequestListener {
  return createListener({
    routes: createRoutes(stream),
    logger: stream.logger,
    callers: 'users',
    refusalOf: problemOf,
    admits: async ({ request, clientIp }) => isCounted(request, keys) || (await general.admits(clientIp)),
    trustedProxies,
  })
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (isConnectionError(error)) {
    return new Problem('DATABASE_CONNECTION_ERROR', 'The database cannot be reached; try again with a new token')
  }
  return new Problem('INTERNAL_ERROR', 'The stream could not be opened; try again with a new token')
}
