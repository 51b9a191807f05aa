import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { loadFileSet } from '../src/files/load.ts'
import { chooseManager } from '../src/files/manager.ts'
import { listTakeOvers, markTakeOver } from '../src/files/take-over.ts'
import { formatTakeOvers } from '../src/terminal/changes.ts'

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'manager-'))
afterAll(() => fs.rmSync(root, { recursive: true }))

function write(name: string, text: string): string {
  const file = path.join(root, name)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, text)
  return file
}
const problemsOf = (name: string) => loadFileSet([path.join(root, name)], { env: {} }).problems
const TENANT = 'kind: tenant\nname: Acme\n'

test('a document that contains only manager names the manager of all files', () => {
  write('named/a.yaml', `manager: shop/catalog\n---\n${TENANT}`)
  write('named/b.yaml', 'kind: tenant\nname: Other\n')
  const { entries, manager } = loadFileSet([path.join(root, 'named')], { env: {} })
  expect([entries.length, manager]).toEqual([2, 'shop/catalog'])
})

test('files may name a manager and no record, but not nothing', () => {
  write('emptied/a.yaml', 'manager: shop\n')
  expect(loadFileSet([path.join(root, 'emptied')], { env: {} })).toMatchObject({ entries: [], manager: 'shop' })
  write('nothing/a.yaml', '# nothing\n')
  expect(problemsOf('nothing')).toEqual([expect.stringContaining('there is no YAML document')])
})

test.each([
  ['another name', 'manager: other', /b\.yaml:1:1: manager: is "other", but \S+a\.yaml:1:1 says "shop"/],
  ['a malformed name', 'manager: a shop', /b\.yaml:1:1: manager: /],
  ['another field', 'manager: shop\nname: x', /b\.yaml:2:1: name: is not a known field here/],
])('%s is refused', (_, text, message) => {
  write('wrong/a.yaml', `manager: shop\n---\n${TENANT}`)
  write('wrong/b.yaml', text)
  expect(problemsOf('wrong')).toEqual([expect.stringMatching(message)])
})

test('the option has precedence over the files, and without both there is no manager', () => {
  expect(chooseManager('given', 'of-files')).toBe('given')
  expect(chooseManager(undefined, 'of-files')).toBe('of-files')
  expect(chooseManager(undefined, null)).toBeNull()
  expect(() => chooseManager('no name', null)).toThrow(/--manager no name/)
})

test('a record of another manager is taken over only with consent, and the list names that manager', () => {
  const file = write('shop/a.yaml', TENANT)
  const [entry] = loadFileSet([file], { env: {} }).entries
  if (entry === undefined) throw new Error('there is no entry')
  const change = { entry, what: 'change' as const, differences: [] }
  const takeOvers = listTakeOvers(markTakeOver(entry, [change], { managed_by: 'other' }, 'shop', false))
  expect(takeOvers).toEqual([{ entry, from: 'other' }])
  expect(formatTakeOvers(takeOvers)).toEqual([expect.stringMatching(/tenant Acme .*managed by "other"$/)])
})
