import type { RequestListener } from 'node:http'
import { isUnavailable } from '@slipway/database'
import { unavailable } from '@slipway/domain'
import { type AnyRefusal, createListener, refusalOf as refusalOfHttp } from '@slipway/http'
import { LineFull } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { createRoutes } from './routes.ts'

/** The API for orchestration instances and agents. `stopping` ends waiting syncs. */
export function createApp(bridge: Bridge, stopping: AbortSignal): RequestListener {
  return createListener({
    routes: createRoutes(bridge, stopping),
    logger: bridge.logger,
    callers: 'programs',
    refusalOf,
  })
}

function refusalOf(error: unknown): AnyRefusal {
  if (error instanceof LineFull) return unavailable('Too many calls of this instance wait: send fewer at a time')
  if (isUnavailable(error)) return unavailable('The database cannot be used now; try again')
  return refusalOfHttp(error)
}
