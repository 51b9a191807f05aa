import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { type AddressRange, plainAddress } from './address-ranges.ts'

/**
 * The address of the client: that of the socket, or behind trusted proxies the first untrusted entry of X-Forwarded-For from the
 * right. Entries further to the left may be forged. An entry that is no address ends the search.
 */
export function clientAddress(
  request: Pick<IncomingMessage, 'headers' | 'socket'>,
  trustedProxies: AddressRange[],
): string {
  let address = plainAddress(request.socket.remoteAddress ?? '')
  const isTrusted = (one: string) => trustedProxies.some((range) => range.contains(one))
  if (!isTrusted(address)) return address
  const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',')
  while (forwarded.length > 0 && isTrusted(address)) {
    const earlier = addressOf(forwarded.pop() ?? '')
    if (earlier === null) break
    address = earlier
  }
  return address
}

/** Drops the port that some proxies write: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function addressOf(entry: string): string | null {
  const text = entry.trim()
  const bare = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text
  const plain = plainAddress(bare)
  return isIP(plain) === 0 ? null : plain
}
