import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { TIMED_OUT, withTimeout } from '../timing.ts'
import { isPublicAddress } from './public-address.ts'

const RESOLVE_MS = 5_000

/** The host of a URL must not be called, or cannot be resolved. The message gives the reason without an address. */
export class DestinationRefused extends Error {
  override name = 'DestinationRefused'
  /** ETIMEDOUT if the name servers did not answer. */
  readonly code: 'ETIMEDOUT' | undefined

  constructor(message: string, code?: 'ETIMEDOUT') {
    super(message)
    this.code = code
  }
}

/** The addresses that URLs of users may lead to. */
export interface DestinationRules {
  /** Whether private, loopback and link-local addresses may be called. */
  allowPrivate: boolean
  /** Resolves a host name; by default with the resolver of the system. */
  resolve?: Resolve
}

export type Resolve = (host: string) => Promise<LookupAddress[]>

export const systemLookup: Resolve = (host: string) => lookup(host, { all: true, verbatim: true })

/** The problem of a URL; null without one. */
export function urlProblem(text: string): string | null {
  if (!URL.canParse(text)) return 'must be a URL'
  const { protocol, username, password, hash, hostname } = new URL(text)
  if (protocol !== 'https:' && protocol !== 'http:') return 'must begin with https:// or http://'
  if (hostname === '') return 'must name a host'
  if (username !== '' || password !== '') return 'must hold no user name and no password'
  return hash === '' ? null : 'must have no fragment'
}

/**
 * Resolves the host of a URL to the addresses that a call may connect to. Refuses a host if one of its addresses is not public.
 * @throws DestinationRefused
 */
export async function checkedAddresses(url: URL, rules: DestinationRules): Promise<LookupAddress[]> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const family = isIP(host)
  const addresses = family === 0 ? await resolved(host, rules.resolve ?? systemLookup) : [{ address: host, family }]
  if (!rules.allowPrivate && !addresses.every(({ address }) => isPublicAddress(address))) {
    throw new DestinationRefused('leads to an address that is not public')
  }
  return addresses
}

async function resolved(host: string, resolve: Resolve): Promise<LookupAddress[]> {
  // A name that does not exist and a failing name server are the same to the caller.
  const addresses = await withTimeout(RESOLVE_MS, resolve(host)).catch(() => [])
  if (addresses === TIMED_OUT) throw new DestinationRefused('names a host that was not resolved in time', 'ETIMEDOUT')
  if (addresses.length === 0) throw new DestinationRefused('names a host that cannot be resolved')
  return addresses
}
