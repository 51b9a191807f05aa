import { type AddressRange, clientAddress, type GeneralLimit, isCounted, refuseFlood } from '@slipway/limits'
import type { KeyRing, Logger } from '@slipway/runtime'
import type { RequestHandler } from 'express'

export interface RateLimit {
  general: GeneralLimit
  trustedProxies: AddressRange[]
  /** The keys with which the gateway marks requests that it has counted. */
  keys: KeyRing
}

/** The general limit of the gateway, for clients that an ingress sends here directly. */
export function limitRate({ general, trustedProxies, keys }: RateLimit, logger: Logger): RequestHandler {
  return async (request, response, next) => {
    if (isCounted(request, keys) || (await general.admits(clientAddress(request, trustedProxies)))) return next()
    logger.info('a stream was refused', { path: request.path, status: 429 })
    refuseFlood(response)
  }
}
