import { type AddressInfo, connect, createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createTestDatabase, type TestDatabase } from '@slipway/testing'
import { OracleDatabase } from '../database.ts'

/** As Postgres sends them (protocol 3.0): a type, the length without the type, the content. */
const message = (type: string, content: string) => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(4 + content.length)
  return Buffer.concat([Buffer.from(type), length, Buffer.from(content)])
}
const AUTHENTICATED = message('R', '\0\0\0\0')
const READY = message('Z', 'I')
const TERMINATED = message('E', 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0')

let made: TestDatabase

beforeAll(async () => {
  made = await createTestDatabase()
})

afterAll(async () => {
  await made.drop()
})

test('a session that ends as soon as it is open is opened again', async () => {
  const postgres = new URL(made.url)
  let sessions = 0
  const server = createServer((socket) => {
    sessions += 1
    if (sessions === 1) {
      // In one piece, as a busy machine reads them.
      socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATED, READY, TERMINATED])))
      return
    }
    const upstream = connect(Number(postgres.port), postgres.hostname)
    socket.pipe(upstream).pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(postgres)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  const database = new OracleDatabase(url.href)
  try {
    await expect(database.number('1')).rejects.toThrow()
    expect(await database.number('1')).toBe(1)
    expect(await database.number('2')).toBe(2)
    expect(sessions).toBe(2)
  } finally {
    await database.close()
    server.close()
  }
})
