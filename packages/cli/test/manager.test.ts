import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { loadFileSet } from '../src/files/load.ts'
import { chooseManager, deriveManagerName } from '../src/files/manager.ts'
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
  expect(() => loadFileSet([path.join(root, 'nothing')], { env: {} })).toThrow('there is no YAML document')
})

test.each([
  ['another name', 'manager: other', /b\.yaml:1:1: manager is "other", but \S+a\.yaml:1:1 says "shop"/],
  ['a malformed name', 'manager: a shop', /b\.yaml:1:1: manager /],
  ['another field', 'manager: shop\nname: x', /b\.yaml:2:1: name is not a known field here/],
])('%s is refused', (_, text, message) => {
  write('wrong/a.yaml', `manager: shop\n---\n${TENANT}`)
  write('wrong/b.yaml', text)
  expect(() => loadFileSet([path.join(root, 'wrong')], { env: {} })).toThrow(message)
})

test('the option has precedence over the files, and the files over the folder', () => {
  const file = write('order/a.yaml', TENANT)
  expect(chooseManager('given', 'of-files', [file])).toEqual({ name: 'given', isNamed: true })
  expect(chooseManager(undefined, 'of-files', [file])).toEqual({ name: 'of-files', isNamed: true })
  expect(chooseManager(undefined, null, [file])).toEqual({
    name: expect.stringMatching(/^order-[0-9a-f]{8}$/),
    isNamed: false,
  })
  expect(() => chooseManager('no name', null, [file])).toThrow(/--manager no name/)
})

const derive = (...paths: string[]) => deriveManagerName(paths.map((one) => path.join(root, one)))

test('a folder, a file in it and several files in it have one name, which a later apply keeps', () => {
  write('my shop/catalog/a.yaml', TENANT)
  write('my shop/catalog/deep/b.yaml', TENANT)
  const name = derive('my shop/catalog')
  expect(name).toMatch(/^catalog-[0-9a-f]{8}$/)
  expect(derive('my shop/catalog/a.yaml')).toBe(name)
  expect(derive('my shop/catalog/a.yaml', 'my shop/catalog/deep/b.yaml')).toBe(name)
  fs.symlinkSync(path.join(root, 'my shop/catalog'), path.join(root, 'link'))
  expect(derive('link')).toBe(name)
})

test('folders of one base name have different names outside of Git', () => {
  write('team-a/slipway/a.yaml', TENANT)
  write('team-b/slipway/a.yaml', TENANT)
  expect(derive('team-a/slipway')).not.toBe(derive('team-b/slipway'))
})

/** Makes a checkout with a folder `catalog`. */
function checkOut(folder: string, remotes: Record<string, string>): string {
  write(`${folder}/catalog/a.yaml`, TENANT)
  const sections = Object.entries(remotes).map(([name, url]) => `[remote "${name}"]\n\turl = ${url}\n`)
  write(`${folder}/.git/config`, `[core]\n\tbare = false\n${sections.join('')}[branch "main"]\n\tremote = origin\n`)
  return `${folder}/catalog`
}

test('in Git without a remote, a name begins with the folder of the repository and differs by its place', () => {
  const [one, two] = [checkOut('one/my shop', {}), checkOut('two/my shop', {})]
  expect(derive(one)).toMatch(/^my-shop\/catalog-[0-9a-f]{8}$/)
  expect(derive('one/my shop')).toMatch(/^my-shop-[0-9a-f]{8}$/)
  expect(derive(one)).not.toBe(derive(two))
})

test('in Git with a remote, the place of the checkout, the protocol and the user do not change the name', () => {
  const urls = [
    'git@example.com:team/shop.git',
    'https://example.com/team/shop.git',
    'https://ci:token@Example.com/team/shop/',
    'ssh://git@example.com:2222/team/shop',
  ]
  const names = urls.map((origin, n) => derive(checkOut(`builds/${n}/src`, { another: 'x@y:z', origin })))
  expect(names[0]).toMatch(/^shop\/catalog-[0-9a-f]{8}$/)
  expect(new Set(names).size).toBe(1)
  const others = ['git@example.com:other/shop.git', 'https://example.com:8443/team/shop', '/srv/team/shop.git']
  for (const [n, origin] of others.entries()) expect(derive(checkOut(`others/${n}`, { origin }))).not.toBe(names[0])
})

test('a worktree has the name of its repository', () => {
  const name = derive(checkOut('main-tree', { origin: 'git@example.com:team/shop.git' }))
  write('main-tree/.git/worktrees/w/commondir', '../..\n')
  write('worktree/catalog/a.yaml', TENANT)
  write('worktree/.git', `gitdir: ${path.join(root, 'main-tree/.git/worktrees/w')}\n`)
  expect(derive('worktree/catalog')).toBe(name)
})

test('a record of another manager is taken over only with consent, and the list names that manager', () => {
  const file = write('shop/a.yaml', TENANT)
  const [entry] = loadFileSet([file], { env: {} }).entries
  if (entry === undefined) throw new Error('there is no entry')
  const name = deriveManagerName([file])
  const change = { entry, what: 'change' as const, differences: [] }
  const takeOvers = listTakeOvers(markTakeOver(entry, [change], { managed_by: 'other' }, name, false))
  expect(takeOvers).toEqual([{ entry, from: 'other' }])
  expect(formatTakeOvers(takeOvers)).toEqual([expect.stringMatching(/tenant Acme .*managed by "other"$/)])
})
