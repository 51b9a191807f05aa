import type { IncomingHttpHeaders } from 'node:http'
import type { LookupFunction } from 'node:net'
import { checkedAddresses, type DestinationRules } from './destination.ts'
import { exchange } from './exchange.ts'

export interface OutboundPost {
  url: URL
  headers: Record<string, string>
  body: string
  /** For everything together: resolving, connecting, sending and the answer. */
  timeoutMs: number
  /** How much of the answer's body is read; the rest is not waited for. */
  maxAnswerBytes: number
}

export interface OutboundAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

/**
 * Posts to a URL that a user gave, over a connection of its own to an address that was checked just before: a name that
 * leads elsewhere a moment later changes nothing. Redirects are answers like any other.
 * @throws DestinationRefused, or an Error of the network
 */
export async function postOutbound(post: OutboundPost, rules: DestinationRules): Promise<OutboundAnswer> {
  const since = Date.now()
  const addresses = await checkedAddresses(post.url, rules)
  const lookup: LookupFunction = (_host, options, callback) => {
    const [first] = addresses
    if (options.all === true) callback(null, addresses)
    else callback(null, first?.address ?? '', first?.family)
  }
  const answer = await exchange({ ...post, to: 'the receiver', agent: false, lookup, since, mayCut: true })
  return { ...answer, body: await answer.body }
}
