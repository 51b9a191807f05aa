import { randomBytes } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { constantTimeEqual, hashToken, KeyRing, randomToken, SecretError, sealedKeyId } from '../src/index.ts'

const key = (id: string, bytes = 32) => `${id}:${randomBytes(bytes).toString('base64')}`
const old = key('2025')
const ring = KeyRing.parse(`${key('2026')},${old}`)

const codeOf = (fn: () => unknown) => {
  try {
    fn()
  } catch (error) {
    expect(error).toBeInstanceOf(SecretError)
    return (error as SecretError).code
  }
  return 'nothing thrown'
}

test('a sealed text or sealed bytes open for the same record', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.uint8Array(), fc.string(), (text, bytes, identity) => {
      expect(ring.openText(ring.seal(text, identity), identity)).toBe(text)
      expect(ring.open(ring.seal(Buffer.from(bytes), identity), identity)).toEqual(Buffer.from(bytes))
    }),
  )
})

test('sealing the same secret twice gives different results', () => {
  expect(ring.seal('x', 'a')).not.toBe(ring.seal('x', 'a'))
})

test('the first key seals and its id is in the sealed value; the other keys still open', () => {
  const sealed = KeyRing.parse(old).seal('x', 'a')
  expect(sealedKeyId(sealed)).toBe('2025')
  expect(ring.openText(sealed, 'a')).toBe('x')
  expect(sealedKeyId(ring.seal('x', 'a'))).toBe('2026')
})

describe('opening a sealed secret', () => {
  test('fails for another record', () => {
    const sealed = ring.seal('x', 'target:1')
    expect(codeOf(() => ring.open(sealed, 'target:2'))).toBe('wrong_record')
  })

  test('fails without its key, and the error names the id of the key', () => {
    const sealed = ring.seal('x', 'a')
    expect(codeOf(() => KeyRing.parse(old).open(sealed, 'a'))).toBe('unknown_key')
    expect(() => KeyRing.parse(old).open(sealed, 'a')).toThrow(/2026 is missing.*SLIPWAY_ENCRYPTION_KEYS/)
  })

  test('fails with another key of the same id', () => {
    expect(codeOf(() => KeyRing.parse(key('2026')).open(ring.seal('x', 'a'), 'a'))).toBe('wrong_key')
  })

  test('fails after a change of any byte', () => {
    const [version, id, blob] = ring.seal('some text', 'a').split('.') as [string, string, string]
    const bytes = Buffer.from(blob, 'base64url')
    for (let index = 0; index < bytes.length; index++) {
      const changed = Buffer.from(bytes)
      changed[index] = (changed[index] as number) ^ 1
      const sealed = `${version}.${id}.${changed.toString('base64url')}`
      expect(['wrong_key', 'wrong_record']).toContain(codeOf(() => ring.open(sealed, 'a')))
    }
  })

  test.each(['', 'v1', 'v2.2026.abc', 'v1.2026.abc', 'v1..', 'plain text'])(
    'fails for a malformed value: %j',
    (text) => {
      expect(codeOf(() => ring.open(text, 'a'))).toBe('malformed')
    },
  )
})

test.each([
  ['nothing', ''],
  ['no id', randomBytes(32).toString('base64')],
  ['a short key', key('a', 31)],
  ['an id twice', `${key('a')},${key('a')}`],
  ['an id with a dot', key('a.b')],
])('a key ring with %s is refused, and the error does not contain the key', (_name, text) => {
  expect(codeOf(() => KeyRing.parse(text))).toBe('malformed')
  const secret = text.split(':')[1] ?? (text || 'none')
  expect(() => KeyRing.parse(text)).not.toThrow(secret)
})

test('tokens are random, and their hash and comparison are correct', () => {
  expect(Buffer.from(randomToken(32), 'base64url')).toHaveLength(32)
  expect(randomToken()).not.toBe(randomToken())
  expect(hashToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  expect(constantTimeEqual('abc', 'abc')).toBe(true)
  expect(constantTimeEqual('abc', 'abd')).toBe(false)
  expect(constantTimeEqual('abc', 'abcd')).toBe(false)
})
