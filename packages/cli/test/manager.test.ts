import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { loadFileSet } from '../src/files/load.ts'
import { chooseManager, deriveManagerName } from '../src/files/manager.ts'

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'manager-'))
afterAll(() => fs.rmSync(root, { recursive: true }))

function write(name: string, text: string): string {
  const file = path.join(root, name)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, text)
  return file
}
const TENANT = 'kind: tenant\nname: Acme\n'

test('a document that contains only manager names the manager of all files', () => {
  write('named/a.yaml', `manager: shop/catalog\n---\n${TENANT}`)
  write('named/b.yaml', 'kind: tenant\nname: Other\n')
  const { entries, manager } = loadFileSet([path.join(root, 'named')], null)
  expect([entries.length, manager]).toEqual([2, 'shop/catalog'])
})

test.each([
  ['another name', 'manager: other', /b\.yaml:1:1: manager is "other", but \S+a\.yaml:1:1 says "shop"/],
  ['a malformed name', 'manager: a shop', /b\.yaml:1:1: manager /],
  ['another field', 'manager: shop\nname: x', /b\.yaml:2:1: name is not a known field here/],
])('%s is refused', (_, text, message) => {
  write('wrong/a.yaml', `manager: shop\n---\n${TENANT}`)
  write('wrong/b.yaml', text)
  expect(() => loadFileSet([path.join(root, 'wrong')], null)).toThrow(message)
})

test('the option has precedence over the files, and the files over the folder', () => {
  const file = write('order/a.yaml', TENANT)
  expect(chooseManager('given', 'of-files', [file])).toEqual({ name: 'given', isNamed: true })
  expect(chooseManager(undefined, 'of-files', [file])).toEqual({ name: 'of-files', isNamed: true })
  expect(chooseManager(undefined, null, [file])).toEqual({ name: 'order', isNamed: false })
  expect(() => chooseManager('no name', null, [file])).toThrow(/--manager no name/)
})

test('the derived name is the same for a folder and its files, and begins with the repository', () => {
  const [one, two] = [write('my shop/catalog/a.yaml', TENANT), write('my shop/catalog/deep/b.yaml', TENANT)]
  const folder = path.dirname(one)
  for (const paths of [[folder], [one], [one, two]]) expect(deriveManagerName(paths)).toBe('catalog')
  fs.mkdirSync(path.join(root, 'my shop/.git'))
  expect(deriveManagerName([folder])).toBe('my-shop/catalog')
  expect(deriveManagerName([path.join(root, 'my shop')])).toBe('my-shop')
})
