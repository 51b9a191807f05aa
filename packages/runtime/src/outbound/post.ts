import type { IncomingHttpHeaders } from 'node:http'
import type { LookupFunction } from 'node:net'
import { checkedAddresses, type DestinationRules } from './destination.ts'
import { exchange } from './exchange.ts'

interface OutboundPost {
  url: URL
  headers: Record<string, string>
  body: string
  /** The timeout of the whole call, with name resolution and answer. */
  timeoutMs: number
  /** How much of the answer is read. The call does not wait for the rest. */
  maxAnswerBytes: number
}

interface OutboundAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

/**
 * Posts to the URL of a user over a new connection to a checked address. A DNS change after the check has no effect. Redirects
 * are not followed.
 * @throws DestinationRefused or a network error
 */
export async function postOutbound(post: OutboundPost, rules: DestinationRules): Promise<OutboundAnswer> {
  const since = performance.now()
  const addresses = await checkedAddresses(post.url, rules)
  const lookup: LookupFunction = (_host, options, callback) => {
    const [first] = addresses
    if (options.all === true) callback(null, addresses)
    else callback(null, first?.address ?? '', first?.family)
  }
  const answer = await exchange({ ...post, to: 'the receiver', agent: false, lookup, since, mayCut: true })
  return { ...answer, body: await answer.body }
}
