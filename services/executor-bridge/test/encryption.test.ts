import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { ConfigurationError } from '@slipway/runtime'
import { makeCertificates, type TestCertificates } from '@slipway/testing'
import { keyPairFilesOf } from '../src/http/encryption.ts'

let pair: TestCertificates
let other: TestCertificates
beforeAll(() => {
  pair = makeCertificates()
  other = makeCertificates()
})
afterAll(() => {
  pair.remove()
  other.remove()
})

const local = { SLIPWAY_BRIDGE_HOST: '127.0.0.1', SLIPWAY_BRIDGE_PLAIN: false }
const cert = () => ({ SLIPWAY_BRIDGE_TLS_CERT_FILE: pair.certFile })
const key = () => ({ SLIPWAY_BRIDGE_TLS_KEY_FILE: pair.keyFile })

const refusals: [string, () => object, RegExp][] = [
  [
    'plain HTTP on all addresses',
    () => ({ SLIPWAY_BRIDGE_HOST: '0.0.0.0' }),
    /SLIPWAY_BRIDGE_TLS_CERT_FILE is missing: SLIPWAY_BRIDGE_HOST is 0\.0\.0\.0, which other machines reach/,
  ],
  ['plain HTTP on all IPv6 addresses', () => ({ SLIPWAY_BRIDGE_HOST: '::' }), /SLIPWAY_BRIDGE_HOST is ::, which/],
  ['plain HTTP on IPv4 in IPv6', () => ({ SLIPWAY_BRIDGE_HOST: '::ffff:192.0.2.1' }), /TLS_CERT_FILE is missing/],
  ['plain HTTP on a public address', () => ({ SLIPWAY_BRIDGE_HOST: '192.0.2.1' }), /TLS_CERT_FILE is missing/],
  ['plain HTTP on an unknown host', () => ({ SLIPWAY_BRIDGE_HOST: 'no-host.invalid' }), /TLS_CERT_FILE is missing/],
  ['a certificate without a key', () => cert(), /SLIPWAY_BRIDGE_TLS_KEY_FILE is missing/],
  ['a key without a certificate', () => key(), /SLIPWAY_BRIDGE_TLS_CERT_FILE is missing/],
  [
    'a certificate together with plain HTTP',
    () => ({ ...cert(), ...key(), SLIPWAY_BRIDGE_PLAIN: true }),
    /SLIPWAY_BRIDGE_PLAIN is true, but SLIPWAY_BRIDGE_TLS_CERT_FILE is set as well/,
  ],
  [
    'a certificate that is not there',
    () => ({ ...key(), SLIPWAY_BRIDGE_TLS_CERT_FILE: '/nowhere' }),
    /SLIPWAY_BRIDGE_TLS_CERT_FILE names \/nowhere, which cannot be read \(ENOENT\)/,
  ],
  [
    'the key of another certificate',
    () => ({ ...cert(), SLIPWAY_BRIDGE_TLS_KEY_FILE: other.keyFile }),
    /SLIPWAY_BRIDGE_TLS_KEY_FILE names .*, which is not the private key/,
  ],
]
test.each(refusals)('refuses %s', async (_what, settings, message) => {
  const decided = keyPairFilesOf({ ...local, ...settings() })
  await expect(decided).rejects.toThrow(ConfigurationError)
  await expect(decided).rejects.toThrow(message)
})

test.each(['127.0.0.1', '127.8.9.10', '::1', 'localhost'])('allows plain HTTP on %s', async (host) => {
  expect(await keyPairFilesOf({ ...local, SLIPWAY_BRIDGE_HOST: host })).toBeNull()
})

test('allows plain HTTP on all addresses if SLIPWAY_BRIDGE_PLAIN is true', async () => {
  const settings = { SLIPWAY_BRIDGE_HOST: '0.0.0.0', SLIPWAY_BRIDGE_PLAIN: true }
  expect(await keyPairFilesOf(settings)).toBeNull()
})

test('accepts a certificate and its key on any address', async () => {
  expect(await keyPairFilesOf({ ...local, ...cert(), ...key(), SLIPWAY_BRIDGE_HOST: '0.0.0.0' })).toEqual({
    certificate: { variable: 'SLIPWAY_BRIDGE_TLS_CERT_FILE', file: pair.certFile },
    key: { variable: 'SLIPWAY_BRIDGE_TLS_KEY_FILE', file: pair.keyFile },
  })
})
