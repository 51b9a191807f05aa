import { expect, test } from '@jest/globals'
import { SlipwayClient } from '@slipway/client'
import { sendJson, startFakeServer } from '@slipway/testing'
import { EXIT_CODES, getExitCode } from '../src/exit-code.ts'

const getUser = (url: string) =>
  new SlipwayClient({ url, token: 't', retryForMs: 0 }).call('getCurrentUser').catch((error: unknown) => error)

test('a refused credential exits with 3, and an unreachable server with 6', async () => {
  const server = await startFakeServer({
    'GET /auth/me': (_, response) =>
      sendJson(response, 401, { error: { code: 'INVALID_TOKEN', message: 'the token is not valid' } }),
  })
  try {
    expect(getExitCode(await getUser(server.url))).toBe(EXIT_CODES.refused)
  } finally {
    await server.close()
  }
  expect(getExitCode(await getUser(server.url))).toBe(EXIT_CODES.unreachable)
})
