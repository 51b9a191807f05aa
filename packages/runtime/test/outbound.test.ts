import fs from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { makeCertificates } from '@slipway/testing'
import { checkedAddresses, DestinationRefused, getOutbound, postOutbound, urlProblem } from '../src/index.ts'
import { isPublicAddress } from '../src/outbound/public-address.ts'

describe('a public address', () => {
  test.each(['1.1.1.1', '93.184.216.34', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450:4001::1'])(
    '%s is public',
    (address) => expect(isPublicAddress(address)).toBe(true),
  )

  test.each([
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254', '172.16.0.1'],
    ...['172.31.255.255', '192.0.0.1', '192.168.1.1', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
    ...['::', '::1', 'fe80::1', 'fc00::1', 'fd12:3456::1', 'fec0::1', 'ff02::1', '2001:db8::1', '2001::1'],
    // IPv4 addresses inside IPv6 addresses: mapped, compatible, translated, 6to4.
    ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:1.1.1.1', '::7f00:1', '64:ff9b::7f00:1'],
    ...['64:ff9b:1::a00:1', '2002:7f00:1::', 'not an address', '', '127.1'],
  ])('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false))
})

test.each([
  ['ftp://example.com/', 'must begin with https:// or http://'],
  ['file:///etc/passwd', 'must begin with https:// or http://'],
  ['example.com', 'must be a URL'],
  ['https://user@example.com/', 'must hold no user name and no password'],
  ['https://:secret@example.com/', 'must hold no user name and no password'],
  ['https://example.com/#part', 'must have no fragment'],
  ['https://example.com/hook?token=1', null],
])('the URL %s: %s', (url, problem) => expect(urlProblem(url)).toBe(problem))

describe('the addresses of a URL', () => {
  const strict = { allowPrivate: false }
  test.each([
    'http://127.0.0.1',
    'http://2130706433',
    'http://0x7f.1',
    'http://[::1]',
    'http://[::ffff:127.0.0.1]',
    'http://localhost',
    'http://017700000001',
  ])('%s is refused in any notation', async (url) => {
    await expect(checkedAddresses(new URL(url), strict)).rejects.toThrow(DestinationRefused)
  })

  test('one private address refuses the whole host name', async () => {
    const resolve = async () => [
      { address: '93.184.216.34', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ]
    await expect(checkedAddresses(new URL('http://a.test'), { ...strict, resolve })).rejects.toThrow('not public')
  })

  test('a host name without an address is refused with its own error', async () => {
    const resolve = async () => []
    await expect(checkedAddresses(new URL('http://a.test'), { ...strict, resolve })).rejects.toThrow(
      'cannot be resolved',
    )
  })
})

describe('a post', () => {
  let server: http.Server
  let port: number
  let seen: { host: string | undefined; body: string }[] = []
  let answer: (response: http.ServerResponse) => void = (response) => response.end('fine')

  beforeAll(async () => {
    server = http.createServer(async (request, response) => {
      const pieces: Buffer[] = []
      for await (const piece of request) pieces.push(piece as Buffer)
      seen.push({ host: request.headers.host, body: Buffer.concat(pieces).toString() })
      answer(response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const post = (host: string, more: object = {}) => ({
    url: new URL(`http://${host}:${port}/hook`),
    headers: {},
    body: 'ä',
    timeoutMs: 30_000,
    maxAnswerBytes: 1_000,
    ...more,
  })

  test('connects to the address that was checked, without resolving the name again', async () => {
    seen = []
    let asked = 0
    const resolve = async () => {
      asked += 1
      return [{ address: asked === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }]
    }
    // Only the resolver of the test knows this name.
    const { status, body } = await postOutbound(post('receiver.invalid'), { allowPrivate: true, resolve })
    expect({ status, body: body.toString(), asked }).toEqual({ status: 200, body: 'fine', asked: 1 })
    expect(seen).toEqual([{ host: `receiver.invalid:${port}`, body: 'ä' }])
  })

  test('is refused if the name resolves to a private address since the check', async () => {
    seen = []
    const answers = [[{ address: '93.184.216.34', family: 4 }], [{ address: '127.0.0.1', family: 4 }]]
    const rules = { allowPrivate: false, resolve: async () => answers.shift() ?? [] }
    expect(await checkedAddresses(new URL('http://rebinding.test'), rules)).toHaveLength(1)
    await expect(postOutbound(post('rebinding.test'), rules)).rejects.toThrow(DestinationRefused)
    expect(seen).toEqual([])
  })

  test('limits the size of the answer and follows no redirect', async () => {
    answer = (response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${port}/other` })
      response.write('x'.repeat(5_000))
      // The response never ends.
    }
    seen = []
    const { status, body } = await postOutbound(post('127.0.0.1'), { allowPrivate: true })
    expect({ status, length: body.length, calls: seen.length }).toEqual({ status: 302, length: 1_000, calls: 1 })
  })

  test('times out if the receiver does not answer completely', async () => {
    for (const begin of [() => {}, (response: http.ServerResponse) => void response.write('slow')]) {
      answer = begin
      await expect(postOutbound(post('127.0.0.1', { timeoutMs: 200 }), { allowPrivate: true })).rejects.toThrow(
        'no complete answer within 200 ms',
      )
    }
  })
})

describe('a get', () => {
  const get = (url: string, more: object = {}) => ({
    url: new URL(url),
    headers: {},
    timeoutMs: 30_000,
    maxAnswerBytes: 100,
    to: 'the issuer',
    ...more,
  })
  const listening = async (server: http.Server) => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  }

  test('is under the same rules as a post, and a longer answer is an error', async () => {
    const server = http.createServer((request, response) =>
      response.end(request.method?.repeat(Number(request.url?.slice(1)))),
    )
    const url = `http://127.0.0.1:${await listening(server)}`
    const rules = { allowPrivate: true }
    const { status, body } = await getOutbound(get(`${url}/33`), rules)
    expect([status, body.length]).toEqual([200, 99])
    await expect(getOutbound(get(`${url}/34`), rules)).rejects.toThrow('longer than 100 bytes')
    await expect(getOutbound(get(url), { allowPrivate: false })).rejects.toThrow(DestinationRefused)
    server.close()
  })

  test('verifies the certificate, whatever NODE_TLS_REJECT_UNAUTHORIZED says', async () => {
    const { certFile, keyFile, remove } = makeCertificates()
    const files = { cert: fs.readFileSync(certFile), key: fs.readFileSync(keyFile) }
    const server = https.createServer(files, (_, response) => response.end())
    const url = `https://127.0.0.1:${await listening(server)}`
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    try {
      await expect(getOutbound(get(url), { allowPrivate: true })).rejects.toMatchObject({
        code: expect.stringMatching(/CERT|SIGNATURE/),
      })
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
      server.close()
      remove()
    }
  })
})
