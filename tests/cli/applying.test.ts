// `apply` and `export` against the running suite: which records they create, change, refuse and leave unchanged.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type Api, loginToSuite, repositoryRoot, type Suite, startSuite } from '@slipway/testing'
import { parse } from 'yaml'
import { commandLineOf, type Ended, start } from './slipway.ts'

let suite: Suite
let api: Api
let cli: ReturnType<typeof commandLineOf>
let folder: string
let count = 0

beforeAll(async () => {
  suite = await startSuite()
  api = await loginToSuite(suite)
  cli = commandLineOf(suite, api.token)
})
afterAll(() => suite?.stop())
beforeEach(() => {
  count += 1
  folder = path.join(suite.folder, `files-${count}`)
  fs.mkdirSync(folder)
})

const is = (ended: Ended, code: number) => expect({ ...ended }).toMatchObject({ code })
const write = (name: string, text: string) => fs.writeFileSync(path.join(folder, name), text)
const apply = (more: string[] = [], env: Record<string, string> = {}) =>
  cli.run(['apply', '-f', '.', ...more], { cwd: folder, env })

const CATALOG = (n: number) => `
kind: tenant
name: Acme ${n}
---
kind: environment
name: production ${n}
tenant: Acme ${n}
variables: { region: eu-west-1 }
---
kind: action
name: greet ${n}
version: 1.0.0
definition:
  type: script
  script: !file greet.sh
---
kind: sequence
name: release ${n}
version: 1.0.0
definition:
  actions:
    - action: greet ${n}
      variables: { who: world }
---
kind: solution
name: shop ${n}
version: 1.0.0
definition:
  sequences:
    - sequence: release ${n}
---
kind: target
name: web ${n}
tenant: Acme ${n}
environment: production ${n}
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
name: end of year ${n}
start_time: 2036-12-20T00:00:00+01:00
end_time: 2037-01-04T00:00:00+01:00
solution: shop ${n}
`
const SECRET = { WEB_PASSWORD: 'hunter2-hunter2' }

function catalog(): number {
  write('catalog.yaml', CATALOG(count))
  write('greet.sh', 'echo "hello {{ who }}"\n')
  return count
}

function edit(from: string, to: string, name = 'catalog.yaml') {
  const text = fs.readFileSync(path.join(folder, name), 'utf8')
  if (!text.includes(from)) throw new Error(`${name} does not contain ${from}`)
  write(name, text.replace(from, to))
}

const one = async (list: string, name: string) =>
  (await api.get(`/${list}?search=${encodeURIComponent(name)}`)).body.data.find(
    (it: { name: string }) => it.name === name,
  )

describe('apply', () => {
  test('--dry-run shows the changes, the next apply creates everything, and a repetition changes nothing', async () => {
    const n = catalog()
    const dry = await apply(['--dry-run', '--exit-code'], SECRET)
    is(dry, 1)
    expect(dry.stdout).toMatch(/7 would be created, 0 would be published, 0 would be changed, 0 unchanged/)
    expect(await one('targets', `web ${n}`)).toBeUndefined()

    const done = await apply([], SECRET)
    is(done, 0)
    expect(done.stdout).toContain('7 created')
    const environment = await one('environments', `production ${n}`)
    const tenant = await one('tenants', `Acme ${n}`)
    expect(await one('targets', `web ${n}`)).toMatchObject({ tenant_id: tenant.id, environment_id: environment.id })
    expect(await one('deployment-freezes', `end of year ${n}`)).toMatchObject({
      solution_id: (await one('solutions', `shop ${n}`)).id,
    })
    expect(`${dry.stdout}${done.stdout}`).not.toContain(SECRET.WEB_PASSWORD)

    const again = await apply(['--dry-run', '--exit-code'], SECRET)
    is(again, 0)
    expect(again.stdout).toContain('nothing to change: 7 records')
  })

  test('writes and changes instance selectors, and removes one that the file leaves out', async () => {
    const n = catalog()
    const selector =
      'instance_selector: { match_labels: { zone: a }, match_expressions: [{ key: spot, operator: DoesNotExist }] }'
    edit('variables: { port: 80 }', `variables: { port: 80 }\n${selector}`)
    edit('variables: { region: eu-west-1 }', 'instance_selector: { match_labels: { stage: prod } }')
    is(await apply([], SECRET), 0)
    expect((await one('targets', `web ${n}`)).instance_selector).toEqual({
      match_labels: { zone: 'a' },
      match_expressions: [{ key: 'spot', operator: 'DoesNotExist' }],
    })
    is(await apply(['--dry-run', '--exit-code'], SECRET), 0)
    const shown = await cli.run(['targets', 'show', `web ${n}`])
    expect(shown.stdout).toMatch(/instance selector: +zone=a, !spot/)
    const exported = await cli.run(['export', '--kind', 'environment'])
    expect(exported.stdout).toContain('stage: prod')

    edit('{ zone: a }', '{ zone: b }')
    edit('instance_selector: { match_labels: { stage: prod } }', 'description: production')
    const done = await apply([], SECRET)
    expect(done.stdout).toContain('instance_selector.match_labels.zone: "a" -> "b"')
    expect((await one('environments', `production ${n}`)).instance_selector).toBeNull()
    edit('operator: DoesNotExist', 'operator: Missing')
    const wrong = await apply([], SECRET)
    is(wrong, 3)
    expect(wrong.stderr).toMatch(/catalog\.yaml:\d+:\d+: .*operator/)
  })

  test('changes only the fields that differ, and leaves fields that the file does not contain', async () => {
    const n = catalog()
    is(await apply([], SECRET), 0)
    const { id } = await one('targets', `web ${n}`)
    // `enabled` is not in the file, so apply must not change it.
    await api.call('PATCH', `/targets/${id}`, { enabled: false })
    edit('port: 80', 'port: 8080')
    edit('host: web.example.com', 'host: www.example.com')
    edit('region: eu-west-1', 'zone: a')
    const done = await apply([], SECRET)
    is(done, 0)
    expect(done.stdout).toContain('0 created, 0 published, 2 changed, 5 unchanged')
    expect(done.stdout).toContain('variables.port: 80 -> 8080')
    expect(done.stdout).toContain('connection.host: "web.example.com" -> "www.example.com"')
    expect(done.stdout).toMatch(/variables\.region: "eu-west-1" -> none\n.*variables\.zone: none -> "a"/)
    expect(await one('targets', `web ${n}`)).toMatchObject({
      id,
      enabled: false,
      variables: { port: 8080 },
      connection: { host: 'www.example.com', username: 'deploy' },
    })
    const { stdout } = await apply(['--dry-run', '-o', 'json'], SECRET)
    const manager = expect.stringMatching(`^files-${n}-[0-9a-f]{8}$`)
    expect(JSON.parse(stdout)).toEqual({ manager, changes: [], unchanged: 7, applied: false })
  })

  test('marks variables as sensitive and never shows their values; removing the mark needs a new value', async () => {
    const n = catalog()
    is(await apply([], SECRET), 0)
    edit('variables: { port: 80 }', 'variables: { port: 80, token: hush-hush }\nsensitive_variables: [token]')
    const marked = await apply([], SECRET)
    is(marked, 0)
    expect(marked.stdout).toMatch(/variables\.token: \*\*\*\n/)
    expect(marked.stdout).toContain('sensitive_variables: [] -> ["token"]')
    expect(await one('targets', `web ${n}`)).toMatchObject({
      variables: { port: 80, token: '***' },
      sensitive_variables: ['token'],
    })
    const exported = await cli.run(['export', '--kind', 'target'], { cwd: folder })
    expect(exported.stdout).toMatch(/token: "\*\*\*"\nsensitive_variables:\n {2}- token\n/)

    // The server does not return the value, so apply sends another one only with --resend-secrets.
    edit('hush-hush', 'another-one')
    expect((await apply([], SECRET)).stdout).toContain('nothing to change')
    const resent = await apply(['--resend-secrets'], SECRET)
    expect(resent.stdout).toMatch(/variables\.token: \*\*\*\n/)
    edit('sensitive_variables: [token]', '')
    expect((await apply([], SECRET)).stdout).toContain('nothing to change')
    edit('token: another-one }', 'token: "***" }\nsensitive_variables: []')
    const refused = await apply([], SECRET)
    is(refused, 3)
    expect(refused.stderr).toMatch(/^catalog\.yaml:\d+:1: sensitive_variables leaves out "token"/m)
    edit('token: "***" }', 'token: no-secret }')
    is(await apply([], SECRET), 0)
    expect(await one('targets', `web ${n}`)).toMatchObject({
      variables: { port: 80, token: 'no-secret' },
      sensitive_variables: [],
    })
    for (const { stdout, stderr } of [marked, exported, resent, refused]) {
      expect(`${stdout}${stderr}`).not.toMatch(/hush-hush|another-one/)
    }
  })

  test('publishes a higher version and shows its differences, and refuses to change a published version', async () => {
    const n = catalog()
    is(await apply([], SECRET), 0)
    write('greet.sh', 'echo "hello {{ who }}"\necho bye\n')
    const refused = await apply([], SECRET)
    is(refused, 3)
    expect(refused.stderr).toMatch(
      /^catalog\.yaml:12:1: version is 1\.0\.0, but this version is published with another definition \(script\)/m,
    )
    edit('version: 1.0.0', 'version: !env GREET_VERSION')
    const done = await apply([], { ...SECRET, GREET_VERSION: '1.1.0' })
    is(done, 0)
    expect(done.stdout).toMatch(
      /\+ publish action greet \d+ 1\.1\.0[\s\S]*version: "1\.0\.0" -> "1\.1\.0"[\s\S]* {2}\+ echo bye/,
    )
    expect((await one('actions', `greet ${n}`)).latest_version).toBe('1.1.0')
    expect((await one('sequences', `release ${n}`)).latest_version).toBe('1.0.0')
  })

  test('sends secrets again with --resend-secrets, and never shows them', async () => {
    catalog()
    is(await apply([], SECRET), 0)
    const again = await apply(['--resend-secrets'], { WEB_PASSWORD: 'another-password' })
    is(again, 0)
    expect(again.stdout).toContain('1 changed')
    expect(again.stdout).not.toContain('another-password')
  })

  test('changes nothing in the second run for targets of every type', async () => {
    const connections = [
      'type: local',
      'type: agent',
      'type: simulated',
      'type: simulated, duration_ms: 20, exit_code: 3',
    ]
    const targets = connections.map((one, n) => `kind: target\nname: kind ${count} ${n}\nconnection: { ${one} }\n`)
    write('targets.yaml', targets.join('---\n'))
    is(await apply(), 0)
    is(await apply(['--dry-run', '--exit-code']), 0)
    edit('exit_code: 3', 'exit_code: 4', 'targets.yaml')
    const { stdout } = await apply()
    expect(stdout).toMatch(/connection\.exit_code: 3 -> 4\n.* 1 changed, 3 unchanged/)
    edit('type: local }', 'type: local }\nconcurrency: queue', 'targets.yaml')
    expect((await apply()).stdout).toMatch(/concurrency: none -> "queue"/)
    is(await apply(['--dry-run', '--exit-code']), 0)
    const exported = await cli.run(['export', '--kind', 'target'])
    expect(exported.stdout).toMatch(new RegExp(`name: kind ${count} 0\\n(.*\\n)*concurrency: queue`))
    edit('concurrency: queue\n', '', 'targets.yaml')
    expect((await apply()).stdout).toMatch(/concurrency: "queue" -> none/)
  })

  test('continues after an apply that failed in the middle', async () => {
    const n = catalog()
    // The file is valid by itself: only the server compares both times.
    edit('end_time: 2037', 'end_time: 2035')
    const first = await apply([], SECRET)
    is(first, 3)
    expect(first.stderr).toMatch(
      /6 of 7 changes were made; the next apply goes on at catalog\.yaml:46:1: freeze end of year/,
    )
    expect(first.stderr).toMatch(/catalog\.yaml:49:1: end_time/)
    edit('end_time: 2035', 'end_time: 2037')
    const second = await apply([], SECRET)
    is(second, 0)
    expect(second.stdout).toContain('1 created, 0 published, 0 changed, 6 unchanged')
    expect(await one('deployment-freezes', `end of year ${n}`)).toBeDefined()
  })
})

describe('records of another file set', () => {
  const target = (name: string, connection: string) => `kind: target\nname: ${name}\nconnection: { ${connection} }\n`
  const ssh = 'type: ssh, host: web.example.com, username: deploy'

  test('are changed only with --take-over, which makes the files their manager', async () => {
    const name = `shared ${count}`
    write('a.yaml', `manager: first\n---\n${target(name, ssh)}`)
    is(await apply(), 0)
    expect(await one('targets', name)).toMatchObject({ managed_by: 'first', connection: { type: 'ssh' } })

    write('a.yaml', target(name, 'type: local'))
    const dry = await apply(['--dry-run'])
    is(dry, 0)
    expect(dry.stdout).toMatch(/connection\.type: "ssh" -> "local"[\s\S]*managed_by: "first" -> "files-\d+-\w+"/)
    expect(dry.stderr).toContain(`target ${name} (a.yaml:1:1): managed by "first"`)
    expect((await apply(['--dry-run', '-o', 'name'])).stdout).toBe(`${name}\n`)
    const refused = await apply()
    is(refused, 3)
    expect(refused.stderr).toMatch(/1 record of these files is not managed by "files-\d+-\w+": give --take-over/)
    expect(refused.stderr).toContain(`target ${name} (a.yaml:1:1): managed by "first"`)
    expect(await one('targets', name)).toMatchObject({ managed_by: 'first', connection: { type: 'ssh' } })

    is(await apply(['--take-over']), 0)
    expect(await one('targets', name)).toMatchObject({
      managed_by: expect.stringMatching(`^files-${count}-`),
      connection: { type: 'local' },
    })
    is(await apply(['--dry-run', '--exit-code']), 0)
    const back = await apply(['--manager', 'first', '--dry-run', '--take-over', '--exit-code'])
    is(back, 1)
    expect(back.stdout).toMatch(/managed_by: "files-\d+-\w+" -> "first"/)
  })

  test('without a manager are left unchanged as long as they match', async () => {
    const name = `by hand ${count}`
    await api.post('/targets', { name, connection: { type: 'simulated' } })
    write('a.yaml', target(name, 'type: simulated'))
    is(await apply(), 0)
    expect((await one('targets', name)).managed_by).toBeNull()
    write('a.yaml', target(name, 'type: simulated, exit_code: 1'))
    const refused = await apply()
    is(refused, 3)
    expect(refused.stderr).toContain(`target ${name} (a.yaml:1:1): no manager`)
    is(await apply(['--take-over']), 0)
  })
})

describe('--prune', () => {
  test('deletes records that the files no longer contain, only with --yes, and names those that it could not delete', async () => {
    const n = catalog()
    write('manager.yaml', `manager: shop-${n}\n`)
    write('theirs.yaml', `kind: target\nname: theirs ${n}\nconnection: { type: local }\n`)
    is(await apply([], SECRET), 0)
    await api.call('PATCH', `/targets/${(await one('targets', `theirs ${n}`)).id}`, { managed_by: 'other' })
    const environment = await one('environments', `production ${n}`)
    await api.post('/targets', {
      name: `guest ${n}`,
      tenant_id: environment.tenant_id,
      environment_id: environment.id,
      connection: { type: 'simulated' },
    })
    fs.rmSync(path.join(folder, 'theirs.yaml'))
    write(
      'catalog.yaml',
      `kind: action\nname: greet ${n}\nversion: 1.0.0\ndefinition: { type: script, script: !file greet.sh }\n`,
    )

    is(await apply(), 0)
    expect(await one('deployment-freezes', `end of year ${n}`)).toBeDefined()
    const dry = await apply(['--prune', '--dry-run', '--exit-code'])
    is(dry, 1)
    expect(dry.stdout.match(/^- delete \w+/gm)).toEqual(
      ['freeze', 'target', 'solution', 'sequence', 'environment', 'tenant'].map((kind) => `- delete ${kind}`),
    )
    expect(dry.stdout).toContain('6 would be deleted, 1 unchanged')
    const unsure = await apply(['--prune'])
    is(unsure, 2)
    expect(unsure.stderr).toContain('--prune would delete 6 records')
    expect(await one('targets', `web ${n}`)).toBeDefined()

    const done = await apply(['--prune', '--yes'])
    is(done, 1)
    expect(done.stdout).toContain('4 deleted, 2 not deleted, 1 unchanged')
    expect(done.stderr).toMatch(/the environment production \d+ was not deleted: .*in use by a target/)
    expect(done.stderr).toMatch(/the tenant Acme \d+ was not deleted: .*in use by an environment/)
    for (const [list, name] of [
      ['targets', 'web'],
      ['solutions', 'shop'],
      ['sequences', 'release'],
    ] as const) {
      expect(await one(list, `${name} ${n}`)).toBeUndefined()
    }
    expect(await one('targets', `theirs ${n}`)).toBeDefined()
    expect(await one('targets', `guest ${n}`)).toBeDefined()
    expect(await one('actions', `greet ${n}`)).toMatchObject({ managed_by: `shop-${n}` })
  })

  test('needs the name of a manager', async () => {
    catalog()
    const ended = await apply(['--prune', '--yes'], SECRET)
    is(ended, 2)
    expect(ended.stderr).toContain('manager: NAME')
  })
})

describe('a mistake in a file', () => {
  test.each([
    ['invalid YAML', 'name: production', 'name: [production', /^catalog\.yaml:7:1: /m],
    [
      'no kind',
      'kind: tenant\n',
      '',
      /^catalog\.yaml:2:1: kind is required: one of: tenant, environment, action, sequence, solution, target, freeze$/m,
    ],
    [
      'an unknown kind',
      'kind: tenant',
      'kind: tennant',
      /^catalog\.yaml:2:1: kind must be one of: tenant, environment/m,
    ],
    [
      'an unknown field',
      'connection:\n',
      'conection:\n',
      /^catalog\.yaml:\d+:1: conection is not a known field; allowed are: .*connection/m,
    ],
    [
      'an unknown field inside',
      '  host: web',
      '  hots: web',
      /^catalog\.yaml:41:3: connection\/hots is not a known field; allowed are: .*host/m,
    ],
    ['a missing field', '  host: web.example.com\n', '', /^catalog\.yaml:39:1: connection\/host is required$/m],
    ['a wrong type', 'variables: { port: 80 }', 'variables: 80', /^catalog\.yaml:\d+:1: variables must be object$/m],
    ['a wrong word', 'type: ssh', 'type: shs', /^catalog\.yaml:40:3: connection\/type must be one of: .*local.*ssh/m],
    [
      'an invalid version',
      'version: 1.0.0',
      'version: "1.0"',
      /^catalog\.yaml:12:1: version must be a full semantic version, for example 1\.4\.0$/m,
    ],
    [
      'a time without a zone',
      'start_time: 2036-12-20T00:00:00+01:00',
      'start_time: 2036-12-20',
      /start_time must be an ISO 8601 timestamp with a zone/,
    ],
    [
      'an invalid name of a variable',
      '{ region: eu-west-1 }',
      '{ "re gion": x }',
      /^catalog\.yaml:8:14: variables\/re gion is not a name for a variable/m,
    ],
    [
      'a missing file',
      '!file greet.sh',
      '!file great.sh',
      /^catalog\.yaml:15:11: !file great\.sh cannot be read \(ENOENT\)/m,
    ],
    [
      'a missing environment variable',
      '!env WEB_PASSWORD',
      '!env WEB_PASWORD',
      /^catalog\.yaml:43:13: !env WEB_PASWORD: the environment has no such variable$/m,
    ],
    [
      'an action that does not exist',
      '- action: greet',
      '- action: great',
      /^catalog\.yaml:22:7: definition\/actions\/0\/action names the action "great \d+", which is neither in these files nor on the server$/m,
    ],
    [
      'a duplicate name',
      '---\nkind: environment',
      '---\nkind: tenant\nname: acme N\n---\nkind: environment',
      /name is "acme \d+", like the tenant at catalog\.yaml:3:1$/m,
    ],
  ])('%s', async (_, from, to, message) => {
    const n = catalog()
    edit(from, to.replace('N', String(n)))
    const ended = await apply([], SECRET)
    is(ended, 3)
    expect(ended.stderr).toMatch(message)
    expect(await one('tenants', `Acme ${n}`)).toBeUndefined()
  })

  test('of content that is not uploaded is found before the first change, also in --dry-run', async () => {
    const n = catalog()
    const bytes = Buffer.from(`settings of ${n}`)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    edit('  script: !file greet.sh', `  script: !file greet.sh\n  files: [{ content: ${sha256}, path: settings }]`)
    for (const options of [['--dry-run'], []]) {
      const refused = await apply(options, SECRET)
      is(refused, 3)
      expect(refused.stderr).toMatch(/catalog\.yaml:\d+:\d+: definition\/files\/0\/content is not on the server/)
    }
    expect(await one('tenants', `Acme ${n}`)).toBeUndefined()
    write('settings', bytes.toString())
    is(await cli.run(['content', 'upload', 'settings'], { cwd: folder }), 0)
    is(await apply([], SECRET), 0)
  })

  test('does not hide the others: one run reports the mistakes of all files', async () => {
    catalog()
    edit('type: ssh', 'type: shs')
    edit('version: 1.0.0', 'version: one')
    write('more.yaml', 'kind: target\nname: x\nconnection: { type: local, port: 1 }\n')
    const { stderr } = await apply([], SECRET)
    expect(stderr.trim().split('\n')).toHaveLength(4)
  })

  test.each([
    ['a missing folder', ['apply', '-f', 'nowhere'], 3],
    ['no file', ['apply'], 2],
    ['--exit-code without --dry-run', ['apply', '-f', '.', '--exit-code'], 2],
  ])('%s', async (_, args, code) => {
    is(await cli.run(args, { cwd: folder }), code)
  })
})

describe('export', () => {
  test('writes files that apply finds unchanged', async () => {
    catalog()
    is(await apply([], SECRET), 0)
    const made = path.join(folder, 'exported')
    is(await cli.run(['export', '-d', made]), 0)
    expect(fs.readdirSync(made).sort()).toEqual(
      ['actions', 'environments', 'freezes', 'sequences', 'solutions', 'targets', 'tenants'].map(
        (kind) => `${kind}.yaml`,
      ),
    )
    const same = await cli.run(['apply', '-f', made, '--dry-run', '--exit-code'])
    is(same, 0)
    expect(same.stdout).toContain('nothing to change')
    const printed = await cli.run(['export', '--kind', 'tenant'])
    expect(parse(printed.stdout.split('---')[0] ?? '')).toMatchObject({ kind: 'tenant' })
  })
})

describe('the example', () => {
  test('can be applied unchanged', async () => {
    const done = await cli.run(['apply', '-f', 'examples/storefront'])
    is(done, 0)
    expect(done.stdout).toContain('11 created')
    is(await start('sh', ['-n', path.join(repositoryRoot, 'examples/storefront/deploy.sh')]).ended, 0)
  })
})
