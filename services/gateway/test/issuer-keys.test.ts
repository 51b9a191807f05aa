import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { keptLog, makeIssuerKey, startTokenIssuer, type TokenIssuer } from '@slipway/testing'
import { createIssuerKeys, type IssuerKeys } from '../src/identity/tokens/issuer-keys.ts'
import { TokenRefused } from '../src/identity/tokens/refusal.ts'
import { verifyToken } from '../src/identity/tokens/verify.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let issuer: TokenIssuer
let keys: IssuerKeys
/** The clock of the gateway, in milliseconds. */
let now: number
beforeEach(async () => {
  issuer = await startTokenIssuer()
  now = Date.now()
  const { logger } = keptLog()
  keys = createIssuerKeys({ allowPrivate: false, isDevelopment: true, logger, now: () => now })
})
afterEach(() => issuer.close())

const goAway = () => {
  issuer.instead = (request) => {
    request.destroy()
    return true
  }
}
/** The outcome of a token that is made now: `accepted`, or the reason of its refusal. */
async function outcome(options: Parameters<TokenIssuer['token']>[1] = {}): Promise<string> {
  const token = await issuer.token({}, { ...options, now })
  return verifyToken(token, { trusted: new Set([issuer.url]), keys, now }).then(
    () => 'accepted',
    (error) => (error instanceof TokenRefused ? error.reason : Promise.reject(error)),
  )
}
const reads = () => issuer.asked.filter((path) => path === '/keys').length
const rotate = async (kid: string) => {
  issuer.keys = [await makeIssuerKey('ES256', kid)]
}

describe('the keys of an issuer', () => {
  test('are read once by concurrent calls, and then kept for an hour', async () => {
    expect(await Promise.all([1, 2, 3, 4].map(() => outcome()))).toEqual(Array(4).fill('accepted'))
    now += HOUR - 1
    expect(await outcome()).toBe('accepted')
    expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/keys'])
    now += 1
    expect(await outcome()).toBe('accepted')
    expect(reads()).toBe(2)
  })

  test('are read again for an unknown key id, at most once a minute', async () => {
    expect(await outcome()).toBe('accepted')
    await rotate('next')
    expect(await outcome()).toBe('unknown_key')
    now += MINUTE
    expect(await Promise.all([1, 2, 3].map(() => outcome()))).toEqual(Array(3).fill('accepted'))
    expect(reads()).toBe(2)
    await rotate('third')
    for (let call = 0; call < 5; call += 1) expect(await outcome()).toBe('unknown_key')
    expect(reads()).toBe(2)
    now += MINUTE
    expect(await outcome()).toBe('accepted')
    expect(reads()).toBe(3)
  })

  test('that the issuer has taken back are refused after an hour', async () => {
    const [old] = issuer.keys
    expect(await outcome()).toBe('accepted')
    await rotate('next')
    now += HOUR
    expect(await outcome({ ...(old && { key: old }) })).toBe('unknown_key')
  })

  test('are used for a day while the issuer is away, which is asked once a minute', async () => {
    expect(await outcome()).toBe('accepted')
    goAway()
    issuer.asked = []
    now += 2 * HOUR
    expect([await outcome(), await outcome()]).toEqual(['accepted', 'accepted'])
    expect(issuer.asked).toHaveLength(1)
    now += MINUTE
    expect(await outcome()).toBe('accepted')
    expect(issuer.asked).toHaveLength(2)
    now += 21 * HOUR
    expect(await outcome()).toBe('accepted')
    now += HOUR
    expect(await outcome()).toBe('issuer_unavailable')
    issuer.instead = undefined
    now += MINUTE
    expect(await outcome()).toBe('accepted')
  })

  test('that were never read are asked for every 5 s', async () => {
    goAway()
    expect([await outcome(), await outcome()]).toEqual(['issuer_unavailable', 'issuer_unavailable'])
    expect(issuer.asked).toHaveLength(1)
    issuer.instead = undefined
    now += 5_000
    expect(await outcome()).toBe('accepted')
  })

  test('stay those of the issuer: the same key id at another one is another key', async () => {
    const other = await startTokenIssuer()
    try {
      const token = await issuer.token({}, { key: other.keys[0] as never })
      const trusted = new Set([issuer.url, other.url])
      await expect(verifyToken(await other.token(), { trusted, keys, now })).resolves.toMatchObject({
        issuer: other.url,
      })
      await expect(verifyToken(token, { trusted, keys, now })).rejects.toMatchObject({ reason: 'wrong_signature' })
    } finally {
      other.close()
    }
  })
})
