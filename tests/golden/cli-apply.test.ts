// `apply` and `export` with the server's own defaults, masks and refusals. packages/cli/test has the rules of files and plans.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { beforeAll, beforeEach, expect, test } from '@jest/globals'
import { openTenant, type TestTenant, waitFor } from '@slipway/testing'
import { type CommandLine, createFolder, expectExit, openCommandLine } from './command-line.ts'

const home = createFolder()
let tenant: TestTenant
let cli: CommandLine
/** The files of a test, whose names end with the number of the test. */
let folder: string
let n = 0

beforeAll(async () => {
  tenant = await openTenant()
  cli = openCommandLine(tenant, home)
})
beforeEach(() => {
  n += 1
  folder = path.join(home, `files-${n}`)
  fs.mkdirSync(folder)
})

const CATALOG = `
kind: environment
name: production N
variables: { region: eu-west-1 }
instance_selector: { match_labels: { stage: prod } }
---
kind: action
name: greet N
version: 1.0.0
definition:
  type: script
  script: !file greet.sh
---
kind: sequence
name: release N
version: 1.0.0
definition:
  actions:
    - action: greet N
      variables: { who: world }
---
kind: solution
name: shop N
version: 1.0.0
definition:
  sequences:
    - sequence: release N
---
kind: target
name: web N
environment: production N
tags:
  - { key: role, value: web }
  - { key: app, value: shop }
connection:
  type: ssh
  host: web.example.com
  username: deploy
  password: !env WEB_PASSWORD
variables: { port: 80 }
---
kind: freeze
name: end of year N
start_time: 2036-12-20T00:00:00+01:00
end_time: 2037-01-04T00:00:00+01:00
solution: shop N
`
const SECRET = { WEB_PASSWORD: 'hunter2-hunter2' }

const write = (name: string, text: string) =>
  fs.writeFileSync(path.join(folder, name), text.replaceAll(' N\n', ` ${n}\n`))
function writeCatalog(): void {
  write('catalog.yaml', CATALOG)
  write('greet.sh', 'echo "hello {{ who }}"\n')
}
function edit(from: string, to: string, name = 'catalog.yaml'): void {
  const text = fs.readFileSync(path.join(folder, name), 'utf8')
  if (!text.includes(from)) throw new Error(`${name} does not contain ${from}`)
  fs.writeFileSync(path.join(folder, name), text.replace(from, to))
}

const apply = (options: string[] = [], env: Record<string, string> = SECRET) =>
  cli.run(['apply', '-f', folder, '--tenant', tenant.username, ...options], { env })
/** Runs an apply that must succeed. Returns its output. */
async function succeed(...options: string[]): Promise<string> {
  const ended = await apply(options)
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  return ended.stdout
}
const expectUnchanged = async () => expect(await succeed('--dry-run', '--exit-code')).toContain('nothing to change')

const read = async (list: string, name: string) =>
  (await tenant.api.get(`/${list}?search=${encodeURIComponent(name)}`)).body.data.find(
    (one: { name: string }) => one.name === name,
  )
const readTarget = () => read('targets', `web ${n}`)

test('--dry-run shows the changes, the next apply creates everything, and a repetition changes nothing', async () => {
  writeCatalog()
  const dry = await apply(['--dry-run', '--exit-code'])
  expectExit(dry, 1)
  expect(dry.stdout).toMatch(/6 would be created, 0 would be published, 0 would be changed, 0 unchanged/)
  expect(await readTarget()).toBeUndefined()

  const done = await succeed()
  expect(done).toContain('6 created')
  const environment = await read('environments', `production ${n}`)
  expect(await readTarget()).toMatchObject({ tenant_id: tenant.id, environment_id: environment.id })
  const freeze = await read('deployment-freezes', `end of year ${n}`)
  expect(freeze).toMatchObject({ solution_id: (await read('solutions', `shop ${n}`)).id })
  await expectUnchanged()

  // The server does not show the password, so apply sends it again only on demand.
  const resent = await apply(['--resend-secrets'], { WEB_PASSWORD: 'another-password' })
  expect(resent.stdout).toContain('1 changed')
  for (const text of [dry.stdout, done, resent.stdout]) expect(text).not.toMatch(/hunter2|another-password/)
})

test('an apply changes only the fields that differ, and leaves fields that the files do not contain', async () => {
  writeCatalog()
  await succeed()
  const { id } = await readTarget()
  // `enabled` is not in the file, so apply must not change it.
  await tenant.api.call('PATCH', `/targets/${id}`, { enabled: false })
  edit('port: 80', 'port: 8080')
  edit('host: web.example.com', 'host: www.example.com')
  edit('region: eu-west-1', 'zone: a')
  edit('instance_selector: { match_labels: { stage: prod } }\n', 'description: production\n')
  const done = await succeed()
  expect(done).toContain('0 created, 0 published, 2 changed, 4 unchanged')
  for (const line of [
    'variables.port: 80 -> 8080',
    'connection.host: "web.example.com" -> "www.example.com"',
    'variables.region: "eu-west-1" -> none',
    'variables.zone: none -> "a"',
    'instance_selector: {"match_labels":{"stage":"prod"}} -> none',
  ])
    expect(done).toContain(line)
  expect(await readTarget()).toMatchObject({
    id,
    enabled: false,
    variables: { port: 8080 },
    connection: { host: 'www.example.com', username: 'deploy' },
  })
  expect((await read('environments', `production ${n}`)).instance_selector).toBeNull()
  const summary = JSON.parse(await succeed('--dry-run', '-o', 'json'))
  const reads = { files: [`${folder}/greet.sh`], variables: ['WEB_PASSWORD'] }
  expect(summary).toEqual({ manager: null, changes: [], uploads: [], unchanged: 6, applied: false, reads })
})

test('sensitive variables are never shown, and removing the mark needs a new value', async () => {
  writeCatalog()
  await succeed()
  edit('variables: { port: 80 }', 'variables: { port: 80, token: hush-hush }\nsensitive_variables: [token]')
  const marked = await succeed()
  expect(marked).toMatch(/variables\.token: \*\*\*\n/)
  expect(marked).toContain('sensitive_variables: [] -> ["token"]')
  expect(await readTarget()).toMatchObject({ variables: { token: '***' }, sensitive_variables: ['token'] })
  await expectUnchanged()

  edit('token: hush-hush }\nsensitive_variables: [token]', 'token: "***" }\nsensitive_variables: []')
  const refused = await apply()
  expectExit(refused, 3)
  expect(refused.stderr).toMatch(/catalog\.yaml:\d+:1: sensitive_variables: leaves out "token"/)
  edit('token: "***" }', 'token: no-secret }')
  await succeed()
  expect(await readTarget()).toMatchObject({ variables: { token: 'no-secret' }, sensitive_variables: [] })
  for (const text of [marked, refused.stderr]) expect(text).not.toContain('hush-hush')
})

test('a higher version is published with its differences, and a published version cannot be changed', async () => {
  writeCatalog()
  await succeed()
  write('greet.sh', 'echo "hello {{ who }}"\necho bye\n')
  const refused = await apply()
  expectExit(refused, 3)
  expect(refused.stderr).toMatch(
    /version: is 1\.0\.0, but this version is published with another definition \(script\)/,
  )
  edit('version: 1.0.0', 'version: !env GREET_VERSION')
  edit(`name: greet ${n}\nversion`, `name: greet ${n}\ndescription: says more\nversion`)
  const done = await apply(['--env', 'GREET_VERSION'], { ...SECRET, GREET_VERSION: '1.1.0' })
  expectExit(done, 0)
  expect(done.stdout).toMatch(
    /\+ publish action greet \d+ 1\.1\.0[\s\S]*version: "1\.0\.0" -> "1\.1\.0"[\s\S]* {2}\+ echo bye/,
  )
  expect(await read('actions', `greet ${n}`)).toMatchObject({ latest_version: '1.1.0', description: 'says more' })
})

test('targets of other types are unchanged in the second apply', async () => {
  const connections = ['type: agent', 'type: simulated', 'type: simulated, duration_ms: 20, exit_code: 3']
  const documents = connections.map((one, k) => `kind: target\nname: kind ${n} ${k}\nconnection: { ${one} }\n`)
  write('targets.yaml', documents.join('---\n'))
  await succeed()
  await expectUnchanged()
  edit('exit_code: 3 }', 'exit_code: 4 }\nconcurrency: queue', 'targets.yaml')
  expect(await succeed()).toMatch(
    /concurrency: none -> "queue"\n +connection\.exit_code: 3 -> 4\n.* 1 changed, 2 unchanged/,
  )
  edit('concurrency: queue', '', 'targets.yaml')
  expect(await succeed()).toMatch(/concurrency: "queue" -> none/)
})

test('all mistakes are shown at once, each with its place, and nothing is changed', async () => {
  writeCatalog()
  write('greet.sh', 'eval "{{ who }}"\n')
  edit('script: !file greet.sh', 'script: !file greet.sh\n  variables: [{ name: who }]')
  edit(
    `    - action: greet ${n}`,
    `    - action: nothing ${n}\n    - action: greet ${n}\n      version_requirement: ^2.0.0`,
  )
  edit('tags:\n  - { key: role, value: web }\n  - { key: app, value: shop }', 'tags: [web]\ncolour: red')
  edit('region: eu-west-1 }', 'region: eu-west-1 }\nposition: first')
  // Only the server compares both times.
  edit('end_time: 2037', 'end_time: 2035')
  write('more.yaml', 'kind: environment\nname: PRODUCTION N\n')
  const [dry, real] = [await apply(['--dry-run']), await apply()]
  expectExit(dry, 3)
  expectExit(real, 3)
  expect(real.stderr).toBe(dry.stderr)
  const lines = dry.stderr.replaceAll(`${folder}/`, '').split('\n')
  for (const [index, line] of [
    /8 problems in the files/,
    /^catalog\.yaml:5:1: position: a whole number or null is expected, this is a text/,
    /^catalog\.yaml:13:3: definition\.script: line 1, column 7: \{\{ who \}\}/,
    /^catalog\.yaml:21:7: definition\.actions\[0\]\.action: names the action "nothing \d+", which is neither in/,
    /^catalog\.yaml:23:7: definition\.actions\[1\]\.version_requirement: no version of the action "greet \d+" satisfies/,
    /^catalog\.yaml:36:8: tags\[0\]: /,
    /^catalog\.yaml:37:1: colour: is not a known field/,
    /^catalog\.yaml:48:1: end_time: /,
    /^more\.yaml:2:1: name: is "PRODUCTION \d+", like the environment at catalog\.yaml:3:1/,
    /^nothing was changed$/,
  ].entries())
    expect(lines[index]).toMatch(line)
  for (const list of ['environments', 'actions', 'sequences', 'solutions', 'targets', 'deployment-freezes']) {
    const { data } = (await tenant.api.get(`/${list}?search=${encodeURIComponent(` ${n}`)}`)).body
    expect(data.filter(({ name }: { name: string }) => name.endsWith(` ${n}`))).toEqual([])
  }
})

test('of two applies at once, the second is refused if the first has changed what it has read', async () => {
  const file = (description: string) =>
    `kind: target\nname: web N\ndescription: ${description}\nconnection: { type: simulated }\n`
  const other = 'kind: environment\nname: production N\n'
  write('a.yaml', `${file('one')}---\n${other}`)
  await succeed()
  write('a.yaml', `manager: shop-${n}\n---\n${file('two')}---\n${other}description: two\n`)
  // It has read the records, and asks.
  const first = cli.start(['apply', '-f', folder, '--tenant', tenant.username], { isTerminal: true })
  await waitFor(() => first.stderr().includes('take over 2 records?'))
  write('a.yaml', file('three'))
  await succeed()
  first.type('y\n')
  const ended = await first.ended
  expectExit(ended, 3)
  expect(ended.stderr).toContain('1 of 2 changes were made; the next apply goes on at')
  const race = /a\.yaml:3:1: target web \d+: was changed by \S+ at \S+Z, while this apply ran: run apply again/
  expect(ended.stderr).toMatch(race)
  expect(await readTarget()).toMatchObject({ description: 'three', managed_by: null })
})

test('stdin is a file, and !content uploads what the server does not have', async () => {
  write('settings', `content of ${tenant.id}`)
  const file = path.relative(process.cwd(), path.join(folder, 'settings'))
  const stdin = `kind: action
name: configure ${n}
version: 1.0.0
definition:
  type: script
  script: cat settings
  files: [{ content: !content ${file}, path: settings }]
`
  const run = (...options: string[]) =>
    cli.run(['apply', '-f', '-', '--tenant', tenant.username, ...options], { stdin })
  const outside = await run('--dry-run')
  expectExit(outside, 3)
  expect(outside.stderr).toMatch(/<stdin>:7:22: !content \S+ lies outside of \.: give --allow-outside/)
  const sha256 = createHash('sha256').update(`content of ${tenant.id}`).digest('hex')
  for (const options of [['--dry-run'], []]) {
    const ended = await run('--allow-outside', ...options)
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout).toContain(`upload ${file}`)
    const { status } = await tenant.api.get(`/content/${sha256}`)
    expect(status).toBe(options.length === 0 ? 200 : 404)
  }
  expect(await run('--allow-outside', '--dry-run')).toMatchObject({
    stdout: expect.stringContaining('nothing to change'),
  })
})

test('records of another manager are changed only with --take-over', async () => {
  const name = `shared ${n}`
  const target = (connection: string) => `kind: target\nname: ${name}\nconnection: { ${connection} }\n`
  write('a.yaml', `manager: first\n---\n${target('type: ssh, host: web.example.com, username: deploy')}`)
  await succeed()
  expect(await read('targets', name)).toMatchObject({ managed_by: 'first' })

  write('a.yaml', target('type: simulated'))
  const dry = await apply(['--dry-run'])
  expectExit(dry, 0)
  expect(dry.stdout).toMatch(/connection\.type: "ssh" -> "simulated"[\s\S]*managed_by: "first" -> none/)
  expect((await apply(['--dry-run', '-o', 'name'])).stdout).toBe(`${name}\n`)
  const refused = await apply()
  expectExit(refused, 3)
  expect(refused.stderr).toMatch(/1 record of these files has a manager, and the files name none: give --take-over/)
  for (const { stderr } of [dry, refused]) expect(stderr).toMatch(/target shared \d+ \(\S+:1:1\): managed by "first"/)
  expect(await read('targets', name)).toMatchObject({ managed_by: 'first', connection: { type: 'ssh' } })

  await succeed('--take-over')
  expect((await read('targets', name)).managed_by).toBeNull()
  await expectUnchanged()
})

test('--prune deletes what the files no longer contain with --yes alone, and names what it could not delete', async () => {
  writeCatalog()
  write('manager.yaml', `manager: shop-${n}\n`)
  await succeed()
  const { id } = await read('environments', `production ${n}`)
  await tenant.api.post('/targets', { name: `guest ${n}`, environment_id: id, connection: { type: 'simulated' } })
  write(
    'catalog.yaml',
    'kind: action\nversion: 1.0.0\ndefinition: { type: script, script: !file greet.sh }\nname: greet N\n',
  )

  await succeed()
  const dry = await apply(['--prune', '--dry-run', '--exit-code'])
  expectExit(dry, 1)
  const kinds = ['freeze', 'target', 'solution', 'sequence', 'environment']
  expect(dry.stdout.match(/^- delete \w+/gm)).toEqual(kinds.map((kind) => `- delete ${kind}`))
  expect(dry.stderr).toMatch(/the environment production \d+ would not be deleted: .*in use by a target/)
  const unsure = await apply(['--prune'])
  expectExit(unsure, 2)
  expect(unsure.stderr).toContain('--prune would delete 5 records')
  expect(await readTarget()).toBeDefined()

  const done = await apply(['--prune', '--yes'])
  expectExit(done, 1)
  expect(done.stdout).toContain('4 deleted, 1 not deleted, 1 unchanged')
  expect(done.stderr).toMatch(/the environment production \d+ was not deleted: .*in use by a target/)
  expect(await readTarget()).toBeUndefined()
  expect(await read('targets', `guest ${n}`)).toBeDefined()
})

test('content that is not uploaded is found before the first change', async () => {
  writeCatalog()
  write('settings', `settings of ${tenant.id}`)
  const file = path.join(folder, 'settings')
  const sha256 = createHash('sha256').update(fs.readFileSync(file)).digest('hex')
  edit('script: !file greet.sh', `script: !file greet.sh\n  files: [{ content: ${sha256}, path: settings }]`)
  for (const options of [['--dry-run'], []]) {
    const refused = await apply(options)
    expectExit(refused, 3)
    expect(refused.stderr).toMatch(
      /catalog\.yaml:\d+:\d+: definition\.files\[0\]\.content: is not in the content store: upload/,
    )
  }
  expect(await read('environments', `production ${n}`)).toBeUndefined()
  await cli.succeed('content', 'upload', file)
  await succeed()
})

test('an export writes files that apply finds unchanged', async () => {
  writeCatalog()
  await succeed()
  const made = path.join(folder, 'exported')
  await cli.succeed('export', '-d', made)
  const kinds = ['actions', 'environments', 'freezes', 'sequences', 'solutions', 'targets', 'tenants']
  expect(fs.readdirSync(made).sort()).toEqual(kinds.map((kind) => `${kind}.yaml`))
  expect(await cli.succeed('apply', '-f', made, '--dry-run', '--exit-code')).toContain('nothing to change')
  expect(await cli.succeed('export', '--kind', 'environment')).toContain(`name: production ${n}\n`)
})
