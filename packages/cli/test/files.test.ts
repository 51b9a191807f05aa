// Mistakes in the files of `apply`: each problem has its place, and what is allowed there.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { loadFileSet } from '../src/files/load.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-files-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))

const CATALOG = `
kind: tenant
name: Acme
---
kind: environment
name: production
tenant: Acme
variables: { region: eu-west-1 }
---
kind: action
name: greet
version: 1.0.0
definition:
  type: script
  script: !file greet.sh
---
kind: target
name: web
tenant: Acme
environment: production
connection:
  type: ssh
  host: web.example.com
  username: deploy
  password: !env WEB_PASSWORD
variables: { port: 80 }
---
kind: freeze
name: end of year
start_time: 2036-12-20T00:00:00+01:00
end_time: 2037-01-04T00:00:00+01:00
`
const write = (name: string, text: string) => fs.writeFileSync(path.join(folder, name), text)

/** Loads the files. Returns the problems, with paths that begin at the folder. */
function load(env: Record<string, string> = { WEB_PASSWORD: 'hunter2' }): string[] {
  const { problems } = loadFileSet([folder], { env })
  return problems.map((problem) => problem.replaceAll(`${folder}/`, ''))
}

beforeEach(() => {
  write('catalog.yaml', CATALOG)
  write('greet.sh', 'echo hello\n')
  fs.rmSync(path.join(folder, 'more.yaml'), { force: true })
})

test('a value that would change, a file that is missing and broken YAML do not hide other problems', () => {
  write(
    'catalog.yaml',
    CATALOG.replace('version: 1.0.0', 'version: 1.0')
      .replace('!file greet.sh', '!file gone.sh')
      .replace('type: ssh', 'type: shs'),
  )
  write('more.yaml', 'kind: tenant\nname: {{\n---\nkind: tenant\nnam: x\n')
  const problems = load()
  for (const expected of [
    /version: this number/,
    /version: must be a full/,
    /gone\.sh/,
    /connection\.type/,
    /more\.yaml:3/,
    /nam: is not/,
  ])
    expect(problems).toContainEqual(expect.stringMatching(expected))
})

test('an empty document, as after the last line of ---, is none', () => {
  write('catalog.yaml', `${CATALOG}---\n`)
  expect(load()).toEqual([])
})

test('a file of !content that is missing is one problem', () => {
  const files = '  files: [{ content: !content gone.bin, path: a }]\n'
  write('more.yaml', `kind: action\nname: x\nversion: 1.0.0\ndefinition:\n  type: script\n  script: ls\n${files}`)
  expect(load()).toEqual([
    expect.stringMatching(/^more\.yaml:7:\d+: !content gone\.bin: there is no file .*gone\.bin$/),
  ])
})

test('files without a mistake are loaded, and the values of environment variables are secrets', () => {
  const { entries, problems } = loadFileSet([folder], { env: { WEB_PASSWORD: 'hunter2' } })
  expect(problems).toEqual([])
  expect(entries.map(({ kind }) => kind)).toEqual(['tenant', 'environment', 'action', 'target', 'freeze'])
  expect(entries[2]?.value).toMatchObject({ definition: { script: 'echo hello\n' } })
  expect([...(entries[3]?.document.secrets ?? [])]).toEqual(['hunter2'])
})

test.each([
  ['invalid YAML', 'name: production', 'name: [production', /^catalog\.yaml:7:1: /],
  [
    'a template without quotes',
    '{ region: eu-west-1 }',
    '{ region: text {{ a }} }',
    /^catalog\.yaml:\d+:\d+: .*in quotes$/,
  ],
  [
    'no kind',
    'kind: tenant\n',
    '',
    /^catalog\.yaml:2:1: kind: is required: one of: tenant, environment, action, sequence, solution, target, freeze$/,
  ],
  ['an unknown kind', 'kind: tenant', 'kind: tennant', /^catalog\.yaml:2:1: kind: must be one of: tenant, environment/],
  [
    'an unknown field',
    'connection:\n',
    'conection:\n',
    /^catalog\.yaml:21:1: conection: is not a known field; did you mean connection\?; allowed are: .*connection/,
  ],
  [
    'an unknown field inside',
    '  host: web',
    '  hots: web',
    /^catalog\.yaml:23:3: connection\.hots: is not a known field; did you mean .*host.*\?; allowed are: .*host/,
  ],
  ['a missing field', '  host: web.example.com\n', '', /^catalog\.yaml:21:1: connection\.host: is required$/],
  [
    'a wrong type',
    'variables: { port: 80 }',
    'variables: 80',
    /^catalog\.yaml:26:1: variables: an object with fields is expected, this is a number$/,
  ],
  ['a wrong word', 'type: ssh', 'type: shs', /^catalog\.yaml:22:3: connection\.type: must be one of: .*local.*ssh/],
  [
    'an unknown operator of a selector',
    'variables: { port: 80 }',
    'instance_selector: { match_expressions: [{ key: spot, operator: Missing }] }',
    /^catalog\.yaml:26:\d+: instance_selector\.match_expressions\[0\]\.operator: /,
  ],
  [
    'an invalid version',
    'version: 1.0.0',
    'version: "1.0"',
    /^catalog\.yaml:12:1: version: must be a full semantic version, for example 1\.4\.0$/,
  ],
  [
    'a time without a zone',
    'start_time: 2036-12-20T00:00:00+01:00',
    'start_time: 2036-12-20',
    /start_time: must be an ISO 8601 timestamp with a zone/,
  ],
  [
    'an invalid name of a variable',
    '{ region: eu-west-1 }',
    '{ "re gion": x }',
    /^catalog\.yaml:8:14: variables\["re gion"\]: is not a name for a variable/,
  ],
  [
    'a missing file',
    '!file greet.sh',
    '!file great.sh',
    /^catalog\.yaml:15:11: !file great\.sh: there is no file .*great\.sh$/,
  ],
  [
    'a missing environment variable',
    '!env WEB_PASSWORD',
    '!env WEB_PASWORD',
    /^catalog\.yaml:25:13: !env WEB_PASWORD: the environment has no such variable$/,
  ],
  [
    'a duplicate name',
    '---\nkind: environment',
    '---\nkind: tenant\nname: acme\n---\nkind: environment',
    /^catalog\.yaml:6:1: name: is "acme", like the tenant at catalog\.yaml:3:1$/,
  ],
])('%s', (_, from, to, message) => {
  expect(CATALOG).toContain(from)
  write('catalog.yaml', CATALOG.replace(from, to))
  expect(load()).toContainEqual(expect.stringMatching(message))
})

test('one mistake does not hide the others', () => {
  write('catalog.yaml', CATALOG.replace('type: ssh', 'type: shs').replace('version: 1.0.0', 'version: one'))
  write('more.yaml', 'kind: target\nname: x\nconnection: { type: local, port: 1 }\n')
  expect(load()).toHaveLength(3)
})

test('bytes that are no UTF-8 are refused, in a file and on stdin', () => {
  const bytes = Buffer.from('kind: tenant\nname: caf\xe9\n', 'latin1')
  fs.writeFileSync(path.join(folder, 'more.yaml'), bytes)
  const problem = ':2: is not UTF-8 from here on: save the file as UTF-8'
  expect(load()).toEqual([`more.yaml${problem}`])
  expect(loadFileSet(['-'], { env: {}, stdin: bytes }).problems).toEqual([`<stdin>${problem}`])
})

test('a folder that does not exist is refused', () => {
  const { problems } = loadFileSet([path.join(folder, 'nowhere')], { env: {} })
  expect(problems).toEqual([expect.stringMatching(/nowhere: there is no such file or folder$/)])
})

describe('a catalog of a stranger', () => {
  const secret = path.join(os.tmpdir(), `${path.basename(folder)}.secret`)
  const record = (description: string) => `kind: tenant\nname: Other\ndescription: ${description}\n`
  beforeAll(() => fs.writeFileSync(secret, 'secret of the runner\n'))
  afterAll(() => fs.rmSync(secret))

  test('reads no file outside of its folder', () => {
    fs.rmSync(path.join(folder, 'link'), { force: true })
    fs.symlinkSync(secret, path.join(folder, 'link'))
    for (const name of [`../${path.basename(secret)}`, 'link']) {
      write('more.yaml', record(`!file ${name}`))
      expect(load()).toEqual([
        expect.stringMatching(`^more.yaml:3:14: !file ${name} lies outside of .* give --allow-outside`),
      ])
    }
    const { entries, reads } = loadFileSet([folder], { env: { WEB_PASSWORD: 'x' }, allowOutside: true })
    expect(entries.map(({ value }) => value['description'])).toContain('secret of the runner\n')
    expect([...reads.files].map((file) => path.basename(file)).sort()).toEqual(['greet.sh', 'link'])
    expect([...reads.variables]).toEqual(['WEB_PASSWORD'])
  })

  test('is no YAML file outside of its folder', () => {
    fs.symlinkSync(secret, path.join(folder, 'more.yaml'))
    expect(load()).toEqual([expect.stringMatching(/^more.yaml: lies outside of /)])
  })

  test('puts environment variables into secrets only, and into other fields if they are named', () => {
    const env = { WEB_PASSWORD: 'hunter2', OTHER: 'x' }
    write('more.yaml', record('!env OTHER'))
    expect(load(env)).toEqual([
      expect.stringMatching(/^more.yaml:3:1: description: would show !env OTHER .*give --env OTHER/),
    ])
    loadFileSet([folder], { env, allowedVariables: new Set(['OTHER']) })
    write('more.yaml', 'kind: tenant\nname: Other\nvariables: { a: &a !env OTHER, b: *a }\nsensitive_variables: [a]\n')
    expect(load(env)).toEqual([expect.stringMatching(/^more.yaml:3:32: variables\.b: would show !env OTHER/)])
    write('more.yaml', 'kind: tenant\nname: Other\nvariables: { a: !env OTHER }\nsensitive_variables: [a]\n')
    expect(load(env)).toEqual([])
  })
})
