import type { IncomingMessage, ServerResponse } from 'node:http'
import { notFound, Problem } from '@slipway/domain'
import type { Logger } from '@slipway/runtime'
import { type Answer, refuseFlood, sendAnswer, sendRefusal } from './answer.ts'
import { type AddressRange, clientAddress } from './client-address.ts'
import { type Callers, observe, takeRequestId } from './observe.ts'
import { type AnyRefusal, refusalOf as refusalOfAny } from './refusal.ts'
import { type HttpCall, type Route, type RouteMatch, routeTable } from './routes.ts'

interface ListenerOptions<Request extends IncomingMessage, Response extends ServerResponse> {
  routes: readonly Route<HttpCall<Request, Response>>[]
  /** Answers a request whose path no route has; by default with 404. */
  otherwise?(call: HttpCall<Request, Response>): Promise<Answer | null>
  logger: Logger
  callers: Callers
  /** The refusals for errors of this service; by default `refusalOf`. */
  refusalOf?(error: unknown): AnyRefusal
  /** Whether the client may make this request now. Polled routes have no limit: they are cheap, and one address may poll for many. */
  admits?(call: HttpCall<Request, Response>): Promise<boolean>
  /** Proxies with an X-Forwarded-For that the service believes. */
  trustedProxies?: AddressRange[]
}

/** An HTTP application for `listen`, or for Express. It logs, measures and traces every request, refused ones too. */
export function createListener<
  Request extends IncomingMessage = IncomingMessage,
  Response extends ServerResponse = ServerResponse,
>(options: ListenerOptions<Request, Response>): (request: Request, response: Response) => void {
  const { routes, otherwise, logger, callers, refusalOf = refusalOfAny, admits, trustedProxies = [] } = options
  type Call = HttpCall<Request, Response>
  const find = routeTable(routes)

  function handle(call: Call, match: RouteMatch<Call> | null): Promise<Answer | null> {
    if (match === null) {
      if (otherwise !== undefined) return otherwise(call)
      throw notFound('This path')
    }
    if (match.route !== undefined) return match.route.handle(call)
    call.response.setHeader('Allow', match.allow)
    throw new Problem('METHOD_NOT_ALLOWED', `${call.method} is not allowed here; allowed: ${match.allow}`)
  }

  /** Answers a request. Returns the refusal if that is the answer. */
  async function answer(call: Call, match: RouteMatch<Call> | null): Promise<AnyRefusal | null> {
    const { response } = call
    try {
      const isLimited = match?.route?.isPolled !== true && admits !== undefined
      if (isLimited && !(await admits(call))) {
        refuseFlood(response)
        return null
      }
      const found = await handle(call, match)
      if (found !== null) await sendAnswer(response, found)
      return null
    } catch (error) {
      const refusal = refusalOf(error)
      const { status, code } = refusal
      if (status === 500) logger.error('a request failed', { code, error })
      else if (status > 500 && error !== refusal) {
        logger.warn('a server was away or too busy for a request', { code, error })
      }
      sendRefusal(response, refusal)
      return refusal
    }
  }

  return (request, response) => {
    const { method = '', url = '' } = request
    const [path, search] = splitOnce(url, '?')
    const match = find(method, path)
    const call: Call = {
      request,
      response,
      method,
      path,
      search,
      params: match?.params ?? {},
      route: match?.template ?? null,
      requestId: takeRequestId(request, response),
      clientIp: clientAddress(request, trustedProxies),
      log: {},
    }
    response.setHeader('Cache-Control', 'no-store')
    const isPolled = match?.route?.isPolled === true
    void observe(call, { logger, callers, isPolled }, () => answer(call, match))
  }
}

/** The token in `Authorization: Bearer TOKEN`. */
export const bearerOf = ({ headers }: IncomingMessage): string | undefined =>
  /^Bearer ([^\s]+)$/.exec(headers.authorization ?? '')?.[1]

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
