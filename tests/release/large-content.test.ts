import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Api, loginToSuite, type Suite, startSuite } from '@slipway/testing'

const MIB = 1024 * 1024

let suite: Suite
let api: Api

beforeAll(async () => {
  suite = await startSuite()
  api = await loginToSuite(suite)
})
afterAll(() => suite?.stop())

const authorization = () => ({ authorization: `Bearer ${api.token}` })

async function upload(body: NonNullable<RequestInit['body']>) {
  const options = { method: 'POST', headers: authorization(), body, duplex: 'half' }
  const response = await fetch(`${suite.url}/api/v1/content`, options as RequestInit)
  expect(response.status).toBe(201)
  return (await response.json()) as { id: string; size: number }
}

/** The peak memory of the gateway so far. */
const peakBytes = () => {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${suite.pid('gateway')}/status`, 'utf8')) ?? []
  return Number(kib) * 1024
}

test('the gateway streams a large upload and its download without keeping them in memory', async () => {
  const size = 256 * MIB
  const piece = randomBytes(MIB)
  const hash = createHash('sha256')
  const before = peakBytes()
  async function* pieces() {
    for (let sent = 0; sent < size; sent += piece.length) {
      piece.writeUInt32BE(sent / MIB)
      hash.update(piece)
      yield Uint8Array.from(piece)
    }
  }
  const content = await upload(ReadableStream.from(pieces()))
  expect(content).toEqual({ id: hash.digest('hex'), size })
  const response = await fetch(`${suite.url}/api/v1/content/${content.id}`, { headers: authorization() })
  const received = createHash('sha256')
  for await (const part of response.body ?? []) received.update(part)
  expect(received.digest('hex')).toBe(content.id)
  expect((peakBytes() - before) / MIB).toBeLessThan(128)
})
