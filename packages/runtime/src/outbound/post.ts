import http from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import { checkedAddresses, type DestinationRules } from './destination.ts'

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
  headers: http.IncomingHttpHeaders
  body: Buffer
}

/**
 * Posts to a URL that a user gave, over a connection of its own to an address that was checked just before: a name that
 * leads elsewhere a moment later changes nothing. Redirects are answers like any other.
 * @throws DestinationRefused, or an Error of the network
 */
export async function postOutbound(post: OutboundPost, rules: DestinationRules): Promise<OutboundAnswer> {
  const until = Date.now() + post.timeoutMs
  const addresses = await checkedAddresses(post.url, rules)
  const pinned: LookupFunction = (_host, options, callback) => {
    const [first] = addresses
    if (options.all === true) callback(null, addresses)
    else callback(null, first?.address ?? '', first?.family)
  }
  return new Promise((resolve, reject) => {
    const { request } = post.url.protocol === 'https:' ? https : http
    const outgoing = request(post.url, {
      method: 'POST',
      agent: false,
      lookup: pinned,
      headers: { ...post.headers, 'content-length': Buffer.byteLength(post.body) },
    })
    const timer = setTimeout(
      () => {
        // First: a response that has begun would tell of it in words of its own.
        reject(new Error(`no whole answer within ${post.timeoutMs} ms`))
        outgoing.destroy()
      },
      Math.max(0, until - Date.now()),
    )
    outgoing.on('close', () => clearTimeout(timer))
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      const pieces: Buffer[] = []
      let size = 0
      const answer = () => {
        const body = Buffer.concat(pieces).subarray(0, post.maxAnswerBytes)
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
        outgoing.destroy()
      }
      response.on('data', (piece: Buffer) => {
        pieces.push(piece)
        size += piece.length
        if (size >= post.maxAnswerBytes) answer()
      })
      response.on('end', answer)
      response.on('error', reject)
    })
    outgoing.end(post.body)
  })
}
