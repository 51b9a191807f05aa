// Checks that docs/catalog.md agrees with the schemas and that `apply` reads its examples.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, test } from '@jest/globals'
import { PAGE, withTables } from '../scripts/catalog-page.mjs'
import { KINDS } from '../src/files/kinds.ts'
import { loadFileSet } from '../src/files/load.ts'
import { SCHEMAS } from '../src/files/schemas.ts'

const page = fs.readFileSync(PAGE, 'utf8')

test('the tables of docs/catalog.md agree with the schemas (else run: make catalog)', () => {
  expect(page).toBe(withTables(page, SCHEMAS))
})

test('a schema with an object that has no table is refused', () => {
  const without = page.replace('<!-- fields: action.definition.check -->', '')
  expect(() => withTables(without, SCHEMAS)).toThrow('no table for the fields script,interpreter')
})

test('the examples of docs/catalog.md are files that apply reads, one of each kind', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'catalog-page-'))
  try {
    const examples = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text)
    for (const [n, text] of examples.entries()) fs.writeFileSync(path.join(folder, `${n}.yaml`), text)
    fs.writeFileSync(path.join(folder, 'orders.conf'), 'port 80\n')
    const { entries, manager, problems } = loadFileSet([folder], { env: { ORDERS_KEY: 'a private key' } })
    expect(problems).toEqual([])
    expect(new Set(entries.map(({ kind }) => kind))).toEqual(new Set(KINDS))
    expect(manager).toBe('orders/catalog')
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
})
