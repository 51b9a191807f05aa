import type { IncomingHttpHeaders } from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import { checkedAddresses, type DestinationRules } from './destination.ts'
import { type Exchange, exchange } from './exchange.ts'

interface OutboundCall {
  url: URL
  headers: Record<string, string>
  /** The timeout of the whole call, with name resolution and answer. */
  timeoutMs: number
}

interface OutboundPost extends OutboundCall {
  body: string
  /** How much of the answer is read. The call does not wait for the rest. */
  maxAnswerBytes: number
}

interface OutboundGet extends OutboundCall {
  /** The name of the server in errors. */
  to: string
  /** A longer answer is an error. */
  maxAnswerBytes: number
}

interface OutboundAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

/** Verifies certificates, whatever NODE_TLS_REJECT_UNAUTHORIZED says. Without keep-alive: each call checks its address. */
const verifying = new https.Agent({ keepAlive: false, rejectUnauthorized: true })

/**
 * Posts to the URL of a user over a new connection to a checked address. A DNS change after the check has no effect. Redirects
 * are not followed.
 * @throws DestinationRefused or a network error
 */
export function postOutbound(post: OutboundPost, rules: DestinationRules): Promise<OutboundAnswer> {
  return call({ ...post, to: 'the receiver', agent: false, mayCut: true }, rules)
}

/**
 * Gets the URL of a user, under the same rules as `postOutbound`.
 * @throws DestinationRefused or a network error
 */
export function getOutbound(get: OutboundGet, rules: DestinationRules): Promise<OutboundAnswer> {
  return call({ ...get, method: 'GET', agent: get.url.protocol === 'https:' ? verifying : false }, rules)
}

async function call(options: Exchange & { url: URL }, rules: DestinationRules): Promise<OutboundAnswer> {
  const since = performance.now()
  const addresses = await checkedAddresses(options.url, rules)
  const lookup: LookupFunction = (_host, { all }, callback) => {
    const [first] = addresses
    if (all === true) callback(null, addresses)
    else callback(null, first?.address ?? '', first?.family)
  }
  const answer = await exchange({ ...options, lookup, since })
  return { ...answer, body: await answer.body }
}
