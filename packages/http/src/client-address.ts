import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

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

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** The form in which addresses are compared and shown. Mapped IPv4 becomes IPv4; a zone id is dropped. */
export function plainAddress(address: string): string {
  if (!address.includes(':')) return address
  const [bare = ''] = address.split('%')
  return MAPPED_IPV4.exec(bare)?.[1] ?? parseMappedIpv4(bare) ?? bare
}

/** The IPv4 address in `::ffff:c000:201` and in longer forms of it. */
function parseMappedIpv4(address: string): string | null {
  if (!/ffff:/i.test(address) || isIP(address) !== 6) return null
  const groups = ipv6Groups(address).map((group) => Number.parseInt(group, 16))
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  return isMapped ? [high >> 8, high & 255, low >> 8, low & 255].join('.') : null
}

/** Such as `10.0.0.0/8`. */
export interface AddressRange {
  /** A longer prefix is a narrower range. IPv4 addresses count as the last 32 of 128 bits. */
  prefixBits: number
  contains(address: string): boolean
}

/** Parses `10.0.0.0/8`, `2001:db8::/32` or a single address; null for other texts. */
export function parseRange(text: string): AddressRange | null {
  const [network = '', bits, ...rest] = text.split('/')
  const family = isIP(network)
  if (family === 0 || network.includes('%') || rest.length > 0) return null
  const width = family === 4 ? 32 : 128
  if (bits !== undefined && !/^\d{1,3}$/.test(bits)) return null
  const prefix = bits === undefined ? width : Number(bits)
  if (prefix > width) return null
  const list = new BlockList()
  const kind = family === 4 ? 'ipv4' : 'ipv6'
  list.addSubnet(network, prefix, kind)
  return {
    prefixBits: family === 4 ? prefix + 96 : prefix,
    contains(address) {
      const plain = plainAddress(address)
      const given = isIP(plain)
      return given === family && list.check(plain, kind)
    },
  }
}

const IPV6_PREFIX_GROUPS = 4

/** The key under which an address is counted. An IPv6 address counts by its /64, because one customer has at least a /64. */
export function limitKey(address: string): string {
  const plain = plainAddress(address)
  if (isIP(plain) !== 6) return plain
  return `${ipv6Groups(plain).slice(0, IPV6_PREFIX_GROUPS).join(':')}::/64`
}

/** The eight groups of a valid IPv6 address, each without leading zeros. */
function ipv6Groups(address: string): string[] {
  const [head = '', tail] = dottedTailToGroups(address.toLowerCase()).split('::')
  const groupsOf = (part: string) => (part === '' ? [] : part.split(':'))
  const before = groupsOf(head)
  const after = groupsOf(tail ?? '')
  const gap = tail === undefined ? 0 : 8 - before.length - after.length
  return [...before, ...Array<string>(gap).fill('0'), ...after].map((group) => Number.parseInt(group, 16).toString(16))
}

/** Replaces the IPv4 address at the end of `64:ff9b::192.0.2.1` by two groups. */
function dottedTailToGroups(address: string): string {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address)
  if (dotted === null) return address
  const [a, b, c, d] = dotted.slice(2).map(Number) as [number, number, number, number]
  return `${dotted[1]}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}
