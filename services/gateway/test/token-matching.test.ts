import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { issuerProblem } from '../src/identity/tokens/issuer-url.ts'
import { choosesTokens, findMismatch } from '../src/identity/tokens/matching.ts'

const TRUST = {
  issuer: 'https://issuer.example',
  audience: 'slipway',
  claims: { repository: 'acme/shop', ref: 'refs/heads/*' },
}
const CLAIMS = { iss: TRUST.issuer, aud: TRUST.audience, repository: 'acme/shop', ref: 'refs/heads/main' }

test.each<[string, object, string | null]>([
  ['all claims', {}, null],
  ['a further claim', { sub: 'x' }, null],
  ['a list with the audience', { aud: ['other', 'slipway'] }, null],
  ['nothing after the beginning', { ref: 'refs/heads/' }, null],
  ['another issuer', { iss: 'https://issuer.example/' }, 'iss'],
  ['another audience', { aud: 'slipway2' }, 'aud'],
  ['a list without the audience', { aud: ['slipway/', ['slipway']] }, 'aud'],
  ['no audience', { aud: undefined }, 'aud'],
  ['a longer literal', { repository: 'acme/shop2' }, 'repository'],
  ['a literal in other case', { repository: 'acme/Shop' }, 'repository'],
  ['a literal in another composition', { repository: 'acme/sho\u0301p' }, 'repository'],
  ['a literal with a blank', { repository: 'acme/shop ' }, 'repository'],
  ['a claim with a wildcard of its own', { repository: 'acme/*' }, 'repository'],
  ['a beginning that is not complete', { ref: 'refs/head' }, 'ref'],
  ['a beginning further on', { ref: 'x/refs/heads/main' }, 'ref'],
  ['a list with the value', { repository: ['acme/shop'] }, 'repository'],
  ['an object', { repository: { toString: 'acme/shop' } }, 'repository'],
  ['a number', { repository: 1 }, 'repository'],
  ['true', { repository: true }, 'repository'],
  ['null', { repository: null }, 'repository'],
  ['no such claim', { repository: undefined }, 'repository'],
])('%s', (_, more, mismatch) => expect(findMismatch({ ...CLAIMS, ...more }, TRUST)).toBe(mismatch))

test.each(['__proto__', 'constructor', 'toString'])('%s is a claim like any other', (name) => {
  const trust = { ...TRUST, claims: JSON.parse(`{ ${JSON.stringify(name)}: "x*" }`) }
  expect(findMismatch(CLAIMS, trust)).toBe(name)
  const own = { ...CLAIMS, ...Object.defineProperty({}, name, { value: 'xy', enumerable: true }) }
  expect(findMismatch(JSON.parse(JSON.stringify(own)), trust)).toBe(null)
})

test('claims match by chance only where a naive reading says so', () => {
  const word = fc.constantFrom('a', 'ab', 'ab*', 'a*', '*', '', 'b', 'A')
  const value = fc.oneof(word, fc.array(word, { maxLength: 2 }), fc.constantFrom(1, true, null, {}))
  const name = fc.constantFrom('sub', 'ref', 'iss', 'aud', '__proto__')
  // Usually of the right issuer and audience, so the other claims decide.
  const usual = fc.oneof({ weight: 4, arbitrary: fc.constant('a') }, word)
  const claims = fc
    .tuple(usual, usual, fc.dictionary(name, value, { maxKeys: 4 }))
    .map(([iss, aud, more]) => ({ iss, aud, ...more }))
  const trusts = fc.record({
    issuer: usual,
    audience: usual,
    claims: fc.dictionary(name, word, { maxKeys: 4 }),
  })
  /** Written another way: every demand as a regular expression over the JSON of the claim. */
  const naive = (of: Record<string, unknown>, trust: { issuer: string; audience: string; claims: object }) => {
    const own = new Map(Object.entries(of))
    const text = (key: string) => JSON.stringify(own.get(key)) ?? 'nothing'
    const literal = (expected: string) => JSON.stringify(expected).replaceAll('*', '\\*')
    const audiences = [own.get('aud')].flat().map((one) => JSON.stringify(one))
    return (
      text('iss') === JSON.stringify(trust.issuer) &&
      audiences.includes(JSON.stringify(trust.audience)) &&
      Object.entries(trust.claims).every(([key, expected]: [string, string]) =>
        new RegExp(
          expected.endsWith('*') ? `^${literal(expected.slice(0, -1)).slice(0, -1)}.*"$` : `^${literal(expected)}$`,
        ).test(text(key)),
      )
    )
  }
  fc.assert(
    fc.property(claims, trusts, (of, trust) => {
      expect(findMismatch(of, trust) === null).toBe(naive(of, trust))
    }),
    { numRuns: 2_000 },
  )
})

test('a further demand never lets more tokens pass', () => {
  const word = fc.string({ maxLength: 3 })
  fc.assert(
    fc.property(fc.dictionary(word, word), fc.dictionary(word, word), word, word, (of, demands, name, value) => {
      const claims = { ...of, iss: 'i', aud: 'a' }
      const trust = { issuer: 'i', audience: 'a', claims: demands }
      const stricter = { ...trust, claims: { ...demands, ...(Object.hasOwn(demands, name) ? {} : { [name]: value }) } }
      if (findMismatch(claims, trust) !== null) expect(findMismatch(claims, stricter)).not.toBe(null)
    }),
  )
})

describe('the claims of a trust choose tokens', () => {
  test.each<[Record<string, string>, boolean]>([
    [{ repository: 'acme/shop' }, true],
    [{ sub: 'repo:acme/*' }, true],
    [{ repository: 'acme/shop', ref: '*' }, true],
    [{}, false],
    [{ iss: 'https://issuer.example' }, false],
    [{ iss: 'x', aud: 'y' }, false],
    [{ sub: '*' }, false],
    [{ aud: 'y', sub: '*', ref: '*' }, false],
  ])('%j: %s', (claims, expected) => expect(choosesTokens(claims)).toBe(expected))
})

describe('the URL of an issuer', () => {
  test.each<[string, string | null]>([
    ['https://issuer.example', null],
    ['https://issuer.example/realms/acme', null],
    ['http://issuer.example', 'must begin with https://'],
    ['http://127.0.0.1:1', 'must begin with https://'],
    ['ftp://issuer.example', 'must begin with https:// or http://'],
    ['issuer.example', 'must be a URL'],
    ['https://user:secret@issuer.example', 'must hold no user name and no password'],
    ['https://issuer.example/?x=1', 'must have no query'],
    ['https://issuer.example/#x', 'must have no fragment'],
  ])('%s: %s', (url, problem) => expect(issuerProblem(url, { isDevelopment: false })).toBe(problem))

  test.each<[string, boolean]>([
    ['http://127.0.0.1:1', true],
    ['http://localhost:1', true],
    ['http://[::1]:1', true],
    ['http://localhost.example', false],
    ['http://127.0.0.1.example', false],
    ['http://10.0.0.1', false],
  ])('%s may be plain HTTP in development: %s', (url, allowed) =>
    expect(issuerProblem(url, { isDevelopment: true }) === null).toBe(allowed),
  )
})
