import type { RequestListener } from 'node:http'
import { type AnyRefusal, createListener, Refusal as HttpRefusal, isRefusal } from '@slipway/http'
import type { Logger } from '@slipway/runtime'
import { Refusal } from '../content/refusal.ts'
import { type AgentRoutesOptions, createRoutes } from './routes.ts'

/** The API for instances. The TLS handshake has authenticated the caller. */
export function createApp(options: AgentRoutesOptions, logger: Logger): RequestListener {
  return createListener({
    routes: createRoutes(options),
    logger,
    callers: 'programs',
    refusalOf,
  })
}

/** Instances know only the codes of the agent's protocol. */
function refusalOf(error: unknown): AnyRefusal {
  if (error instanceof Refusal) return error
  if (!isRefusal(error)) return new HttpRefusal(500, 'DISK', 'The call failed on the target: see the log of the agent')
  return new Refusal(error.status === 404 || error.status === 405 ? 'NOT_FOUND' : 'INVALID', error.message)
}
