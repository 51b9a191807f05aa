// The tarball for `npm install -g` on a machine without this repository and without network.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { loginToSuite, repositoryRoot, type Suite, startSuite } from '@slipway/testing'
import { type Installed, installPackage, linkPackage } from './installed.ts'
import { runProgram } from './programs.ts'

let suite: Suite
let token: string
let installed: Installed

beforeAll(async () => {
  suite = await startSuite()
  token = (await loginToSuite(suite)).token
  installed = installPackage(path.join(suite.folder, 'package'))
})
afterAll(() => suite?.stop())

const files = () =>
  execFileSync('tar', ['-tzf', installed.tarball], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((name) => name.replace(/^package\//, ''))
const read = (name: string) => fs.readFileSync(path.join(installed.folder, name), 'utf8')
const environment = () => ({ SLIPWAY_URL: suite.url, SLIPWAY_TOKEN: token })
const rootManifest = JSON.parse(fs.readFileSync(path.join(repositoryRoot, 'package.json'), 'utf8'))

describe('the package', () => {
  test('is ready to publish: it has a licence, a README, a repository, provenance and no dependencies', () => {
    const manifest = JSON.parse(read('package.json'))
    expect(manifest).toMatchObject({
      name: '@slipway/cli',
      version: rootManifest.version,
      license: 'Apache-2.0',
      engines: rootManifest.engines,
      bin: { slipway: './bin/slipway.mjs' },
      repository: { type: 'git', url: expect.stringMatching(/^git\+https:/) },
      publishConfig: { access: 'public', provenance: true },
    })
    expect(manifest).not.toHaveProperty('private')
    expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).toEqual([])
    expect(files()).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'THIRD-PARTY-LICENSES']))
    for (const name of ['commander', 'yaml', '@sinclair/typebox', 'eventsource-parser', 'undici'])
      expect(read('THIRD-PARTY-LICENSES')).toMatch(new RegExp(`^${name} \\d`, 'm'))
  })

  test('contains only bundles that its program loads, also after several builds', () => {
    const bundles = files().filter((name) => name.startsWith('dist/'))
    const loaded = new Set<string>()
    const load = (name: string) => {
      if (loaded.has(name)) return
      loaded.add(name)
      for (const [, next = ''] of read(name).matchAll(/(?:from\s*|import\s*\(?\s*)"\.\/(bundle-\w+\.js)"/g))
        load(`dist/${next}`)
    }
    load('dist/bundle.js')
    expect(bundles.toSorted()).toEqual([...loaded].toSorted())
    // A package that is loaded late may declare a name that the bundle has already.
    for (const name of bundles) execFileSync(process.execPath, ['--check', path.join(installed.folder, name)])
  })
})

describe('the installed command line', () => {
  const slipway = (...args: string[]) => runProgram(installed.program, args, { env: environment(), cwd: '/' })

  test('prints its version', async () => {
    expect(await slipway('--version')).toEqual({ code: 0, stdout: `${rootManifest.version}\n`, stderr: '' })
  })

  test('applies files and deploys', async () => {
    const file = path.join(suite.folder, 'packaged.yaml')
    const action = 'kind: action\nname: Packaged\nversion: 1.0.0\ndefinition: { type: script, script: echo packaged }\n'
    fs.writeFileSync(file, `${action}---\nkind: target\nname: packaged\nconnection: { type: local }\n`)
    expect(await slipway('apply', '-f', file)).toMatchObject({ code: 0 })
    const ended = await slipway('deploy', 'Packaged', '--target', 'packaged', '--follow')
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('packaged | packaged\n') })
  })
})

describe('the client of the package', () => {
  const project = () => path.join(suite.folder, 'project')
  const source = `import { SlipwayClient, type Answer } from '@slipway/cli'
const client = new SlipwayClient({ url: process.env['SLIPWAY_URL'] ?? '', token: process.env['SLIPWAY_TOKEN'] ?? '' })
const user: Answer<'getCurrentUser'> = await client.call('getCurrentUser')
console.log(user.email)
export async function states(id: string): Promise<string[]> {
  const found: string[] = []
  for await (const { event, data } of client.followLogs(id)) if (event === 'state_change') found.push(data.new_state)
  return found
}
`

  beforeAll(() => linkPackage(installed, project()))

  // tsc also checks the declarations: one that imports a module outside of the package is an error.
  test.each(['nodenext', 'bundler'])('has types for %s resolution', (moduleResolution) => {
    fs.writeFileSync(path.join(project(), 'package.json'), '{ "type": "module" }')
    fs.writeFileSync(path.join(project(), 'calls.ts'), source)
    const compilerOptions = {
      strict: true,
      skipLibCheck: false,
      target: 'es2022',
      module: moduleResolution === 'bundler' ? 'esnext' : 'nodenext',
      moduleResolution,
      types: ['node'],
      outDir: 'out',
    }
    fs.writeFileSync(path.join(project(), 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['calls.ts'] }))
    const tsc = path.join(repositoryRoot, 'node_modules/.bin/tsc')
    execFileSync(tsc, ['-p', project()], { stdio: 'pipe' })
  })

  test('calls the server', async () => {
    const ended = await runProgram(process.execPath, [path.join(project(), 'out/calls.js')], { env: environment() })
    expect(ended).toEqual({ code: 0, stdout: `${suite.admin.email}\n`, stderr: '' })
  })
})
