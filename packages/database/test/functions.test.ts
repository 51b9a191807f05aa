import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type OpenTestDatabase, openTestDatabase, repositoryRoot } from '@slipway/testing'

let server: OpenTestDatabase
beforeAll(async () => {
  server = await openTestDatabase()
})
afterAll(() => server.drop())

const page = fs.readFileSync(path.join(repositoryRoot, 'docs/architecture.md'), 'utf8')
const chapter = /## Functions and triggers\n(.*?)\n## /s.exec(page)?.[1] ?? ''

/** The names in the first column of the table with this heading. */
function listed(heading: string): string[] {
  const lines = chapter.split('\n')
  const start = lines.findIndex((line) => line.startsWith(`| ${heading} `))
  const rows = lines.slice(start + 2)
  const end = rows.findIndex((line) => !line.startsWith('|'))
  return rows
    .slice(0, end)
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name))
}

async function found(sql: string): Promise<string[]> {
  const { rows } = await server.database.query<{ name: string }>(sql)
  return rows.map(({ name }) => name)
}

test('docs/architecture.md lists each function of the schema', async () => {
  const functions = await found(
    `SELECT DISTINCT p.proname AS name FROM pg_proc p
      WHERE p.pronamespace = 'public'::regnamespace
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')`,
  )
  expect(functions.sort()).toEqual(listed('function').sort())
})

test('docs/architecture.md lists each trigger of the schema', async () => {
  const triggers = await found(
    `SELECT DISTINCT tgname AS name FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
      WHERE NOT t.tgisinternal AND c.relnamespace = 'public'::regnamespace`,
  )
  expect(triggers.sort()).toEqual(listed('trigger').sort())
})
