// Uses each file of a release as its users do. The release is made of the present state, into a folder of its own.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  type Api,
  freePort,
  loginToSuite,
  repositoryRoot,
  type Suite,
  startSuite,
  startTokenIssuer,
  waitFor,
} from '@slipway/testing'
import { parse } from 'yaml'
import { CHARTS, errorsOf, render, renderFrom, valuesFile } from '../kubernetes/helm.ts'
import { parseManifests } from '../kubernetes/manifests.ts'
import { invalid, misfits } from '../kubernetes/schemas.ts'
import { installClient, installProgram, makeSnapshot } from './installed.ts'
import { runProgram } from './programs.ts'

const { version } = JSON.parse(fs.readFileSync(path.join(repositoryRoot, 'package.json'), 'utf8'))
const imageCheck = spawnSync('scripts/images.sh', ['--check'], { cwd: repositoryRoot, encoding: 'utf8' })
const engine = ['docker', 'podman'].find((name) => spawnSync(name, ['info']).status === 0)
const canRunImages = imageCheck.status === 0 && engine !== undefined

let suite: Suite
let api: Api
let dist: string

beforeAll(async () => {
  // Allows an issuer of tokens on this machine.
  suite = await startSuite({ env: { SLIPWAY_DEVELOPMENT: 'true' } })
  api = await loginToSuite(suite)
  dist = path.join(suite.folder, 'dist')
  makeSnapshot(dist, canRunImages ? 'gateway' : 'none')
})
afterAll(() => suite?.stop())

const inDist = (name: string) => path.join(dist, name)
const read = (name: string) => fs.readFileSync(inDist(name), 'utf8')
const filesBelow = (folder: string) =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))

describe('a release', () => {
  test('has the checksum of every file', () => {
    const digestOf = (name: string) =>
      createHash('sha256')
        .update(fs.readFileSync(inDist(name)))
        .digest('hex')
    const expected = filesBelow(dist).filter((name) => name !== 'SHA256SUMS')
    expect(read('SHA256SUMS').trim().split('\n').toSorted()).toEqual(
      expected.map((name) => `${digestOf(name)}  ${name}`).toSorted(),
    )
    execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: dist, stdio: 'pipe' })
  })

  test('has a provenance of its files, a bill of materials and notes', () => {
    const subjects: { name: string }[] = JSON.parse(read(`slipway-${version}.provenance.json`)).subject
    expect(subjects.map(({ name }) => name)).toEqual(
      expect.arrayContaining([`slipway-${version}.tgz`, `slipway-cli-${version}.tgz`, 'action/main.mjs']),
    )
    const bill = JSON.parse(read(`slipway-${version}.cdx.json`))
    expect(bill.components.map(({ name }: { name: string }) => name)).toContain('express')
    expect(read('RELEASE-NOTES.md')).toMatch(new RegExp(`^# Slipway ${version}\\n\\n\\S`))
  })
})

describe.each([
  ['cli', ['commander', 'yaml', '@sinclair/typebox', 'eventsource-parser', 'undici']],
  ['client', ['eventsource-parser']],
])('the package @slipway/%s', (name, bundled) => {
  const extract = (file: string) =>
    execFileSync('tar', ['-xzOf', inDist(`slipway-${name}-${version}.tgz`), `package/${file}`], { encoding: 'utf8' })

  test('is ready to publish: it has a licence, a README, a repository, provenance and no dependencies', () => {
    const manifest = JSON.parse(extract('package.json'))
    expect(manifest).toMatchObject({
      name: `@slipway/${name}`,
      version,
      license: 'Apache-2.0',
      engines: { node: expect.stringMatching(/^>=/) },
      repository: { type: 'git', url: expect.stringMatching(/^git\+https:/) },
      publishConfig: { access: 'public', provenance: true },
    })
    expect(Object.keys(manifest).filter((key) => key === 'private' || /dependencies/i.test(key))).toEqual([])
    for (const file of ['README.md', 'LICENSE']) expect(extract(file)).not.toBe('')
    for (const library of bundled) expect(extract('THIRD-PARTY-LICENSES')).toMatch(new RegExp(`^${library} \\d`, 'm'))
  })
})

describe('the command line', () => {
  let installed: ReturnType<typeof installProgram>
  const slipway = (...args: string[]) =>
    runProgram(installed.program, args, { env: { SLIPWAY_URL: suite.url, SLIPWAY_TOKEN: api.token }, cwd: '/' })
  beforeAll(async () => {
    installed = installProgram(inDist(`slipway-cli-${version}.tgz`), path.join(suite.folder, 'cli'))
    const file = path.join(suite.folder, 'packaged.yaml')
    const script = 'echo packaged $SLIPWAY_VAR_REVISION $SLIPWAY_VAR_COLOUR'
    const action = `kind: action\nname: Packaged\nversion: 1.0.0\ndefinition: { type: script, script: ${script} }\n`
    const target = 'kind: target\nname: packaged\nconnection: { type: local }\ntags: [{ key: app, value: packaged }]\n'
    fs.writeFileSync(file, `${action}---\n${target}`)
    expect(await slipway('apply', '-f', file)).toMatchObject({ code: 0 })
  })

  test('contains only bundles that its program loads, also after several builds', () => {
    const bundles = filesBelow(installed.folder).filter((name) => name.startsWith('dist/'))
    const loaded = new Set<string>()
    const load = (name: string) => {
      if (loaded.has(name)) return
      loaded.add(name)
      const text = fs.readFileSync(path.join(installed.folder, name), 'utf8')
      for (const [, next = ''] of text.matchAll(/(?:from\s*|import\s*\(?\s*)"\.\/(bundle-\w+\.js)"/g))
        load(`dist/${next}`)
    }
    load('dist/bundle.js')
    expect(bundles.toSorted()).toEqual([...loaded].toSorted())
    // A package that is loaded late may declare a name that the bundle has already.
    for (const name of bundles) execFileSync(process.execPath, ['--check', path.join(installed.folder, name)])
  })

  test('prints its version', async () => {
    expect(await slipway('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  test('applies files and deploys', async () => {
    const ended = await slipway('deploy', 'Packaged', '--target', 'packaged', '--follow')
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('packaged | packaged\n') })
  })

  describe('in the Action', () => {
    /** Runs the entry point as a runner does, in a job whose ID tokens the account takes. */
    async function runAction(inputs: Record<string, string>) {
      const { runs, inputs: known } = parse(read('action/action.yml'))
      const given = Object.entries<{ default?: string }>(known).map(([name, input]) => [
        `INPUT_${name.toUpperCase()}`,
        inputs[name] ?? input.default ?? '',
      ])
      const temporary = fs.mkdtempSync(path.join(suite.folder, 'runner-'))
      const output = path.join(temporary, 'output')
      const runner = { GITHUB_RUN_ID: '7', GITHUB_RUN_ATTEMPT: '1', GITHUB_JOB: 'deploy', GITHUB_ACTION: 'slipway' }
      const env = {
        ...issuer.variablesOfGitHub(),
        ...Object.fromEntries(given),
        ...runner,
        GITHUB_OUTPUT: output,
        RUNNER_TEMP: temporary,
      }
      const ended = await runProgram(process.execPath, [inDist(`action/${runs.main}`)], { env, cwd: temporary })
      expect(fs.readdirSync(temporary).filter((name) => name !== 'output')).toEqual([])
      return { ...ended, outputs: fs.existsSync(output) ? fs.readFileSync(output, 'utf8') : '' }
    }
    let issuer: Awaited<ReturnType<typeof startTokenIssuer>>
    beforeAll(async () => {
      issuer = await startTokenIssuer()
      issuer.job = { repository: 'acme/shop', ref: 'refs/heads/main', event_name: 'push' }
      const kinds = ['actions', 'sequences', 'solutions', 'targets', 'environments', 'tenants', 'freezes']
      const permissions = [
        'deployments:create',
        'deployments:cancel',
        ...[...kinds, 'deployments'].map((kind) => `${kind}:read`),
      ]
      const commands = [
        ['roles', 'create', 'deployer', ...permissions.flatMap((permission) => ['--permission', permission])],
        ['service-accounts', 'create', 'shop-deploy', '--role', 'deployer'],
        [
          'trusts',
          'create',
          'shop-deploy',
          '--name',
          'test',
          '--issuer',
          issuer.url,
          '--claim',
          'repository=acme/shop',
        ],
      ]
      for (const command of commands) expect(await slipway(...command)).toMatchObject({ code: 0 })
    })
    afterAll(() => issuer?.close())

    const inputs = () => ({ url: suite.url, 'service-account': 'shop-deploy', source: 'Packaged', tag: 'app=packaged' })

    test('deploys with the variables, and its outputs are the deployment and its state', async () => {
      const ended = await runAction({ ...inputs(), variables: 'revision=beef\ncolour=dark blue' })
      expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('packaged | packaged beef dark blue\n') })
      const [, id = ''] = /^deployment=(\S+)\nstate=success\n$/.exec(ended.outputs) ?? []
      const { body } = await api.get(`/deployments/${id}`)
      expect(body).toMatchObject({
        state: 'success',
        config: { variables: { revision: 'beef', colour: 'dark blue' } },
      })
    })

    test('fails with the words of the command line if the server refuses', async () => {
      const ended = await runAction({ ...inputs(), source: 'Pakaged' })
      expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('Pakaged'), outputs: '' })
    })

    test('names a required input that is missing', async () => {
      const ended = await runAction({ ...inputs(), url: '' })
      expect(ended).toMatchObject({ code: 2, stdout: expect.stringMatching(/^::error::the input url /) })
    })

    test('describes each input and output in its README', () => {
      const { inputs: known, outputs } = parse(read('action/action.yml'))
      for (const name of [...Object.keys(known), ...Object.keys(outputs)])
        expect(read('action/README.md')).toContain(`\`${name}\``)
    })
  })
})

describe('the client', () => {
  const project = () => path.join(suite.folder, 'project')
  const source = `import { SlipwayClient, type Answer } from '@slipway/client'
const client = new SlipwayClient({ url: process.env['SLIPWAY_URL'] ?? '', token: process.env['SLIPWAY_TOKEN'] ?? '' })
const user: Answer<'getCurrentUser'> = await client.call('getCurrentUser')
console.log(user.email)
export async function states(id: string): Promise<string[]> {
  const found: string[] = []
  for await (const { event, data } of client.followLogs(id)) if (event === 'state_change') found.push(data.new_state)
  return found
}
`
  beforeAll(() => {
    installClient(inDist(`slipway-client-${version}.tgz`), project())
  })

  // tsc also checks the declarations: one that imports a module outside of the package is an error.
  test.each(['nodenext', 'bundler'])('has types for %s resolution', (moduleResolution) => {
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
    const env = { SLIPWAY_URL: suite.url, SLIPWAY_TOKEN: api.token }
    const ended = await runProgram(process.execPath, [path.join(project(), 'out/calls.js')], { env })
    expect(ended).toEqual({ code: 0, stdout: `${suite.admin.email}\n`, stderr: '' })
  })
})

describe('the chart', () => {
  const chart = () => inDist(`slipway-${version}.tgz`)

  // tests/kubernetes checks the objects that the folder renders to.
  test.each(CHARTS)('renders with the values %s as its source does', (name) => {
    expect(renderFrom(chart(), valuesFile(name))).toEqual(render(valuesFile(name)))
  })

  test('refuses values that its schema does not allow', () => {
    const errors = errorsOf(
      'template',
      'slipway',
      chart(),
      '--values',
      valuesFile('minimal'),
      '--set',
      'imagse.prefix=x',
    )
    expect(errors).toContain('imagse')
  })
})

test.each(['external-services', 'production'])('the manifests %s can be applied', async (name) => {
  const manifests = parseManifests(read(`slipway-${version}-${name}.yaml`))
  expect(manifests.length).toBeGreaterThan(20)
  expect(misfits(manifests)).toEqual([])
  expect(await invalid(manifests)).toEqual([])
})

const reason = imageCheck.status === 0 ? 'there is no docker and no podman' : imageCheck.stderr.trim()
const testImages = canRunImages ? test : test.skip
testImages(
  `the image of the gateway starts from its archive${canRunImages ? '' : ` (not here: ${reason})`}`,
  async () => {
    const run = (...args: string[]) => execFileSync(String(engine), args, { encoding: 'utf8', stdio: 'pipe' }).trim()
    const loaded = run('load', '--input', inDist(`images/slipway-gateway-${version}.oci.tar`))
    const [, image = ''] = /: (\S+)$/.exec(loaded) ?? []
    const port = await freePort()
    const nowhere = {
      DATABASE_URL: 'postgres://none@127.0.0.1:1/none',
      RABBITMQ_URL: 'amqp://127.0.0.1:1',
      REDIS_URL: 'redis://127.0.0.1:1',
    }
    const settings = {
      ...nowhere,
      SLIPWAY_MANAGEMENT_PORT: String(port),
      SLIPWAY_PORT: String(await freePort()),
      SLIPWAY_LOG_STREAM_URL: 'http://127.0.0.1:1',
      SLIPWAY_ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 1).toString('base64')}`,
      SLIPWAY_JWT_KEYS: `test:${Buffer.alloc(32, 2).toString('base64')}`,
    }
    const options = Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`])
    const container = run('run', '--detach', '--network', 'host', ...options, image)
    try {
      const answers = async () => (await fetch(`http://127.0.0.1:${port}/livez`).catch(() => undefined))?.status === 200
      await waitFor(answers, { what: 'the gateway to answer' })
    } finally {
      run('rm', '--force', container)
    }
  },
)
