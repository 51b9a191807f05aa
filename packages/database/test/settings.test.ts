import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createTestDatabase, type TestDatabase } from '@slipway/testing'
import { createDatabase } from '../src/index.ts'

let made: TestDatabase

beforeAll(async () => {
  made = await createTestDatabase()
})

afterAll(() => made.drop())

async function settingsOf(url: string) {
  const database = createDatabase({ url, applicationName: 'settings test' })
  try {
    const { rows } = await database.query(
      `SELECT current_setting('jit') AS jit, current_setting('work_mem') AS work_mem,
              current_setting('statement_timeout') AS statement_timeout, current_setting('lock_timeout') AS lock_timeout`,
    )
    return rows[0]
  } finally {
    await database.close()
  }
}

test('statements have timeouts and are not compiled', async () => {
  expect(await settingsOf(made.urlOf('gateway'))).toMatchObject({
    jit: 'off',
    statement_timeout: '30s',
    lock_timeout: '10s',
  })
})

test('options in the database URL are kept beside the settings', async () => {
  const url = new URL(made.urlOf('gateway'))
  url.searchParams.set('options', '-c work_mem=7MB')
  expect(await settingsOf(url.href)).toMatchObject({ jit: 'off', work_mem: '7MB' })
})
