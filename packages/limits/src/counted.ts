import type { IncomingMessage } from 'node:http'
import { constantTimeEqual, type KeyRing } from '@slipway/runtime'

/** Tells the service behind the gateway that the general limit has counted this request. */
export const COUNTED_HEADER = 'x-slipway-counted'
const PURPOSE = 'request counted by the general limit'

/** The value of the header for one URL. It needs the encryption keys, so clients cannot forge it. */
export function countedMark(keys: KeyRing, url: string): string {
  return markUnder(keys, keys.currentKeyId, url) ?? ''
}

/** Whether a service with the same keys has counted this request. */
export function isCounted({ headers, url = '' }: Pick<IncomingMessage, 'headers' | 'url'>, keys: KeyRing): boolean {
  const mark = headers[COUNTED_HEADER]
  if (typeof mark !== 'string') return false
  const expected = markUnder(keys, mark.slice(0, Math.max(0, mark.lastIndexOf('.'))), url)
  return expected !== null && constantTimeEqual(mark, expected)
}

function markUnder(keys: KeyRing, keyId: string, url: string): string | null {
  const hmac = keys.hmac(PURPOSE, keyId)
  return hmac === null ? null : `${keyId}.${hmac.update(url).digest('base64url')}`
}
