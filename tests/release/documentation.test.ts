// Runs the commands of the documents and of the example pipelines against a suite.
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
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
  type TokenIssuer,
} from '@slipway/testing'
import { parse } from 'yaml'
import { installClient, packClient } from './installed.ts'
import { binFolder, runProgram } from './programs.ts'

let suite: Suite
let api: Api
let key: string

beforeAll(async () => {
  // As `make run`: allows an issuer of tokens and receivers of webhooks on this machine.
  suite = await startSuite({ env: { SLIPWAY_DEVELOPMENT: 'true', SLIPWAY_WEBHOOK_ALLOW_PRIVATE: 'true' } })
  api = await loginToSuite(suite)
  const { body } = await api.post('/auth/api-keys', { name: 'pipeline' })
  key = body.full_key
  fs.mkdirSync(path.join(repository(), '.slipway'), { recursive: true })
  const { email, password } = suite.admin
  const settings = `SLIPWAY_ADMIN_EMAIL=${email}\nSLIPWAY_ADMIN_PASSWORD='${password}'\nexport SLIPWAY_URL=${suite.url}\n`
  fs.writeFileSync(path.join(repository(), '.slipway/settings.env'), settings)
})
afterAll(() => suite?.stop())

/** A folder like the top of the repository after `make run`. */
const repository = () => path.join(suite.folder, 'repository')
const read = (name: string) => fs.readFileSync(path.join(repositoryRoot, name), 'utf8')
/** The text of each block of this language, without the indentation of a list. */
const blocks = (document: string, language: string) =>
  [...read(document).matchAll(new RegExp(`^( *)\`\`\`${language}\\n(.*?)^ *\`\`\`$`, 'gms'))].map(
    ([, indent = '', text = '']) => text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )

/** The shell blocks of a document that run here, as one script. */
const scriptOf = (document: string) =>
  blocks(document, 'sh')
    .filter((block) => !isElsewhere(document, block))
    .join('\n')

/** Runs a shell as in a pipeline: with `slipway` in its PATH, and without the environment of the tests. */
async function shell(script: string, env: Record<string, string>, cwd: string) {
  const PATH = `${binFolder(suite.folder)}:${path.dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`
  const home = path.join(suite.folder, 'home')
  fs.mkdirSync(home, { recursive: true })
  return await runProgram('bash', ['-c', `set -eu\n${script}`], {
    env: { HOME: home, SLIPWAY_URL: suite.url, ...env, PATH },
    cwd,
  })
}

/** @throws Error with the end of the output if a script has failed */
function requireSuccess(ended: Awaited<ReturnType<typeof shell>>) {
  if (ended.code !== 0)
    throw new Error(`exit code ${ended.code}\n${ended.stdout.slice(-2_000)}\n${ended.stderr.slice(-2_000)}`)
  return ended
}

/** Logs in, as pages say that the reader has done. */
const logIn = `. .slipway/settings.env
printf '%s\\n' "$SLIPWAY_ADMIN_PASSWORD" | slipway login --email "$SLIPWAY_ADMIN_EMAIL" --password-stdin`

/** Blocks that do not run here, with the reason and what tests the same. */
const ELSEWHERE: readonly [document: string, contains: string, where: string][] = [
  ['README.md', 'make run ', 'tests/golden starts the suite as `make run` does; `.ci/run` calls `make test`'],
  ['CONTRIBUTING.md', 'make build ', 'needs the repository; `.ci/run` calls them'],
  ['CONTRIBUTING.md', 'make test TESTS=', 'needs the repository; docs/testing.md describes it'],
  ['CONTRIBUTING.md', '--inspect', 'stops for a debugger'],
  [
    'docs/agent.md',
    'install.sh --url',
    'changes this machine as root; tests/faults/agents.test.ts installs into a folder',
  ],
  ['docs/agent.md', 'package.sh', 'needs a second machine; tests/faults/agents.test.ts makes the package'],
  [
    'docs/cli.md',
    'make package-cli',
    'builds the repository; tests/release/published.test.ts packs and installs the package',
  ],
  ['docs/cli.md', 'slipway.example.com', 'names servers of yours; packages/cli/test logs in to several servers'],
  ['docs/cli.md', 'slipway token', 'needs an ID token; the pipelines below exchange theirs'],
  ['docs/client.md', 'make package-client', 'tests/release/published.test.ts packs and installs the package'],
  ['docs/console.md', 'vite dev', 'serves until Ctrl-C'],
  [
    'docs/identity.md',
    'make run OIDC=1',
    'tests/golden/console-identity.test.ts starts the suite with a login provider',
  ],
  [
    'docs/images.md',
    'docker',
    'needs a container engine; tests/running/images.test.ts runs the images where there is one',
  ],
  [
    'docs/images.md',
    'make images',
    'needs a container engine; tests/running/images.test.ts runs the images where there is one',
  ],
  ['docs/instances.md', 'kubectl', 'needs a cluster'],
  ['docs/instances.md', 'instances delete NAME', 'services/executor-bridge/test/administer.test.ts removes instances'],
  [
    'docs/kubernetes.md',
    '',
    'needs a cluster; tests/kubernetes renders the chart and checks the manifests of these commands',
  ],
  ['docs/operations.md', 'roles/command.js create', 'packages/database/test/roles.test.ts creates the roles'],
  [
    'docs/operations.md',
    'users/command.js create',
    'packages/broker and packages/runtime create the users in their tests',
  ],
  ['docs/operations.md', 'pg_dump', 'tests/release/restore.test.ts makes and restores the dump'],
  ['docs/people.md', 'make reset-password', 'services/gateway/test/reset-password.test.ts calls the command'],
  [
    'docs/people.md',
    'docker compose',
    'needs a container engine or a cluster; the command is that of `make reset-password`',
  ],
  ['docs/performance.md', 'make bench', 'takes an hour'],
  ['docs/pipelines.md', 'curl', 'needs an ID token; the pipelines below exchange theirs'],
  ['docs/resilience.md', 'make campaign', 'takes hours; tests/campaign/test runs a short one'],
  ['docs/targets.md', 'useradd', 'changes this machine; `make run` does it as root'],
  ['docs/testing.md', 'make test', 'starts tests'],
  ['docs/testing.md', 'jest.js', 'starts tests'],
  ['docs/upgrading.md', 'make down', 'needs a second release; tests/faults/releases.test.ts upgrades'],
  ['docs/upgrading.md', 'helm upgrade', 'needs a cluster'],
  ['packages/cli/README.md', 'slipway.example.com', 'names a server of yours; the commands are those of docs/cli.md'],
  ['tests/campaign/README.md', 'make campaign', 'takes hours; tests/campaign/test runs a short one'],
  ['docs/upgrading.md', 'make package-cli', 'tests/release/published.test.ts packs and installs the package'],
]
const isElsewhere = (document: string, block: string) =>
  ELSEWHERE.some(([name, contains]) => name === document && block.includes(contains))

/** The documents whose other blocks run below. */
const RUN = [
  'README.md',
  'docs/access.md',
  'docs/agent.md',
  'docs/api.md',
  'docs/cli.md',
  'docs/instances.md',
  'docs/people.md',
  'docs/pipelines.md',
  'docs/promotion.md',
  'docs/scripts.md',
  'docs/targets.md',
  'docs/tutorial.md',
  'docs/webhooks.md',
  'examples/pipelines/README.md',
  'examples/storefront/README.md',
]

describe('the commands of all documents', () => {
  const documents = execFileSync('git', ['ls-files', '*.md', ':!CHANGELOG.md', ':!docs/decisions'], {
    cwd: repositoryRoot,
    encoding: 'utf8',
  })
    .trim()
    .split('\n')

  test('run below, or elsewhere for a reason that still holds', () => {
    const left = documents.flatMap((document) =>
      blocks(document, 'sh').flatMap((block) =>
        RUN.includes(document) || isElsewhere(document, block) ? [] : [`${document}: ${block.split('\n')[0]}`],
      ),
    )
    expect(left).toEqual([])
    const stale = ELSEWHERE.filter(([name, contains]) => !blocks(name, 'sh').some((block) => block.includes(contains)))
    expect(stale).toEqual([])
    expect(RUN.filter((document) => scriptOf(document) === '')).toEqual([])
  })

  test('stand in shell blocks', () => {
    const hidden = documents.flatMap((document) => {
      const prose = read(document).replaceAll(/^ *```.*?^ *```$/gms, '')
      const lines = prose.match(/^ {4}(\$ )?(slipway|make|curl|kubectl|docker|helm|node|sh|export) .*$/gm) ?? []
      return [...lines, ...blocks(document, 'console')].map((line) => `${document}: ${line}`)
    })
    expect(hidden).toEqual([])
  })
})

describe('docs/cli.md', () => {
  test('its commands give the results that the page describes', async () => {
    const cwd = repository()
    const before = `${logIn}\nslipway environments create staging`
    const after = 'slipway service-accounts delete shop-pipeline --yes\necho it is done'
    const ended = await shell(`${before}\n${scriptOf('docs/cli.md')}\n${after}`, {}, cwd)
    expect(requireSuccess(ended)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/Good day, here[\s\S]*it is done\n$/),
    })
    expect(JSON.parse(fs.readFileSync(path.join(cwd, 'answer.json'), 'utf8'))).toMatchObject({ pending: false })
  })
})

describe('README.md', () => {
  test('its commands give the described results, also when repeated, with the address from the settings file only', async () => {
    const cwd = repository()
    fs.copyFileSync(path.join(repositoryRoot, 'Makefile'), path.join(cwd, 'Makefile'))
    const [login, first, ...http] = blocks('README.md', 'sh').filter((block) => !isElsewhere('README.md', block))
    const script = [login, first, ...http, ...http].join('\n')
    const ended = await shell(`${script}\napi /deployments/$DEPLOYMENT | field .state`, { SLIPWAY_URL: '' }, cwd)
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('my-machine | Good day, 3\n') })
    expect(ended.stdout).toMatch(/Good day, 5[\s\S]*Good day, 5[\s\S]*success\n$/)
    expect(ended.stdout).not.toMatch(/undefined|"error":/)
  })
})

describe('docs/api.md', () => {
  test('its examples give the described answers', async () => {
    const cwd = repository()
    const ended = await shell(blocks('docs/api.md', 'sh').join('\n'), {}, cwd)
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^hello from api-guide-\d+$/m) })
    for (const shown of blocks('docs/api.md', 'json')) expect(ended.stdout).toContain(shown)
  })
})

describe('docs/agent.md', () => {
  test('its commands enrol an agent and start it', async () => {
    const cwd = repository()
    // The example calls the program of the repository, and the ports of `make run`.
    fs.mkdirSync(path.join(cwd, 'services'), { recursive: true })
    fs.symlinkSync(path.join(repositoryRoot, 'services/target-agent'), path.join(cwd, 'services/target-agent'))
    const bridge = `BRIDGE_PORT=${new URL(suite.bridgeUrl).port}`
    const script = scriptOf('docs/agent.md').replaceAll('$((SLIPWAY_PORT + 2))', '$BRIDGE_PORT')
    const ended = await shell(`${logIn}\n${bridge}\n${script}`, { SLIPWAY_AGENT_PORT: String(await freePort()) }, cwd)
    expect(requireSuccess(ended)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('enrolled as the agent of db-1'),
    })
  })
})

describe('pages with commands of every day', () => {
  const run = async (document: string, before = '', after = '') =>
    requireSuccess(await shell([logIn, before, scriptOf(document), after].join('\n'), {}, repository()))

  test('docs/people.md adds, changes and removes people', async () => {
    expect(await run('docs/people.md')).toMatchObject({ code: 0, stdout: expect.stringContaining('operator  Lobby') })
  })

  test('docs/scripts.md shows what the script prints', async () => {
    const ended = await run('docs/scripts.md')
    expect(ended).toMatchObject({ code: 0 })
    for (const shown of blocks('docs/scripts.md', 'text')) expect(ended.stdout).toContain(shown)
  })

  test('docs/access.md gives three teams their rights', async () => {
    const before = `
      slipway environments create production
      for name in ada ben mia; do
        printf 'ten green bottles\\n' | slipway users create $name@example.com --username $name --role user --password-stdin
      done
      cat >teams.yaml <<'YAML'
kind: action
name: Team
version: 1.0.0
definition: { type: script, script: "true" }
---
kind: sequence
name: Team
version: 1.0.0
definition: { actions: [{ action: Team }] }
---
kind: solution
name: storefront
version: 1.0.0
definition: { sequences: [{ sequence: Team }] }
---
kind: solution
name: billing
version: 1.0.0
definition: { sequences: [{ sequence: Team }] }
YAML
      slipway apply -f teams.yaml`
    const after = 'for name in ada ben mia; do slipway users delete $name@example.com --yes; done'
    expect(await run('docs/access.md', before, after)).toMatchObject({ code: 0 })
  })

  test('docs/webhooks.md receives and repeats a call', async () => {
    const cwd = repository()
    fs.cpSync(path.join(repositoryRoot, 'examples/webhooks'), path.join(cwd, 'examples/webhooks'), { recursive: true })
    const ended = await run('docs/webhooks.md')
    expect(ended).toMatchObject({ code: 0 })
    expect(fs.readFileSync(path.join(cwd, 'received.txt'), 'utf8')).toContain('target.created: front-door')
  })

  test('docs/targets.md, docs/instances.md and docs/pipelines.md', async () => {
    expect(await run('docs/targets.md')).toMatchObject({ code: 0 })
    expect(await run('docs/instances.md')).toMatchObject({ code: 0 })
    const after = 'slipway service-accounts delete shop-pipeline --yes'
    expect(await run('docs/pipelines.md', '', after)).toMatchObject({ code: 0 })
  })
})

describe('docs/client.md', () => {
  test('its examples have the right types, and run with the installed package', async () => {
    const folder = path.join(suite.folder, 'client')
    installClient(packClient(path.join(suite.folder, 'packed')), folder)
    fs.writeFileSync(path.join(folder, 'examples.ts'), blocks('docs/client.md', 'ts').join('\n'))
    const compilerOptions = { strict: true, target: 'es2022', module: 'nodenext', types: ['node'], outDir: 'out' }
    fs.writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['examples.ts'] }))
    const tsc = path.join(repositoryRoot, 'node_modules/.bin/tsc')
    execFileSync(tsc, ['-p', folder], { stdio: 'pipe' })

    const env = { SLIPWAY_URL: suite.url, SLIPWAY_API_KEY: key }
    const ended = await runProgram(process.execPath, [path.join(folder, 'out/examples.js')], { env })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout).toContain('local-1: hello\nnow success\n')
    expect(ended.stdout).toContain("path: '/target_ids'")
  })
})

// Runs before the pipelines, because they must not deploy to its targets.
describe('examples/storefront', () => {
  const folder = () => path.join(suite.folder, 'storefront')
  afterAll(() => shell(`sh examples/storefront/stop.sh ${folder()}`, {}, repositoryRoot))

  test('its commands deploy it on free ports, and stop it', async () => {
    const [deploy = 'false', next = 'false'] = blocks('examples/storefront/README.md', 'sh')
    const env = { SLIPWAY_TOKEN: api.token, STOREFRONT_DIRECTORY: folder() }
    const first = await shell(deploy, env, repositoryRoot)
    expect(first).toMatchObject({ code: 0 })
    const addresses = (stderr: string) => [...stderr.matchAll(/^storefront-\d: (\S+)$/gm)].map(([, url = '']) => url)
    expect(addresses(first.stderr)).toHaveLength(3)
    const health = async (url: string) => (await fetch(`${url}health`)).json()
    for (const url of addresses(first.stderr)) expect(await health(url)).toMatchObject({ version: '1.0.0' })

    // The second block publishes two versions. The health check of the last one fails.
    const second = await shell(next, env, repositoryRoot)
    expect(second).toMatchObject({ code: 1 })
    expect([...new Set(addresses(second.stderr))]).toEqual(addresses(first.stderr))
    for (const url of addresses(first.stderr)) expect(await health(url)).toMatchObject({ version: '1.1.0' })

    const stopped = await shell(`sh examples/storefront/stop.sh ${folder()}`, {}, repositoryRoot)
    expect(stopped.stdout.match(/stopped process/g)).toHaveLength(3)
  })
})

describe('examples/pipelines', () => {
  const cwd = path.join(repositoryRoot, 'examples/pipelines')
  /** Takes the place of GitHub, GitLab and Jenkins. */
  let issuer: TokenIssuer
  /** The accounts and trusts of the README, and the same trusts for the issuer of this test. */
  beforeAll(async () => {
    issuer = await startTokenIssuer()
    const made = await shell(blocks('examples/pipelines/README.md', 'sh').join('\n'), { SLIPWAY_TOKEN: api.token }, cwd)
    expect(made).toMatchObject({ code: 0 })
    for (const name of ['shop-preview', 'shop-deploy', 'shop-apply']) {
      const [account] = (await api.get(`/admin/users?search=${name}`)).body.data
      const { trusts } = (await api.get(`/admin/users/${account.id}/trusts`)).body
      for (const { id: _, created_at: __, created_by: ___, ...trust } of trusts) {
        const same = { ...trust, issuer: issuer.url, name: `test ${trust.name}` }
        expect((await api.post(`/admin/users/${account.id}/trusts`, same)).status).toBe(201)
      }
    }
  })
  afterAll(() => issuer.close())

  /** What GitHub says of a job. */
  const onPush = { repository: 'acme/shop', ref: 'refs/heads/main', event_name: 'push' }
  const onPullRequest = { repository: 'acme/shop', ref: 'refs/pull/7/merge', event_name: 'pull_request' }
  const withGitHub = (job: Record<string, unknown>) => {
    issuer.job = job
    return issuer.variablesOfGitHub()
  }
  /** What GitLab says of a job. */
  const onGitLab = { project_path: 'acme/shop', ref: 'main', ref_type: 'branch', ref_protected: 'true' }

  interface GitLabJob {
    id_tokens: { SLIPWAY_ID_TOKEN: { aud: string } }
    variables: Record<string, string>
    script: string[]
  }
  const runOnGitLab = async (job: GitLabJob | undefined, env: Record<string, string>) => {
    expect(job?.id_tokens.SLIPWAY_ID_TOKEN.aud).toBe('$SLIPWAY_URL')
    const SLIPWAY_ID_TOKEN = await issuer.token({ ...onGitLab, aud: suite.url })
    const ended = await shell(
      (job?.script ?? ['false']).join('\n'),
      { ...env, ...job?.variables, SLIPWAY_ID_TOKEN },
      cwd,
    )
    expect(ended).toMatchObject({ code: 0 })
  }

  /** Expects that the last deployment is of the pipeline, with this revision. */
  const deployed = async (revision: string) => {
    const { body } = await api.get('/deployments?limit=1')
    const { body: deployment } = await api.get(`/deployments/${body.data[0].id}`)
    expect(deployment).toMatchObject({ state: 'success', action_name: 'web', config: { variables: { revision } } })
    expect(deployment.plan.target_count).toBe(2)
  }

  describe('github-actions.yml', () => {
    interface Job {
      env: Record<string, string>
      steps: { run?: string }[]
    }
    const run = async (job: 'preview' | 'deploy', sha: string) => {
      const known: Record<string, string> = {
        'vars.SLIPWAY_URL': suite.url,
        'github.sha': sha,
        'github.run_id': sha,
        'github.run_attempt': '1',
      }
      const fill = (text: string) => fillIn(text, known)
      const { jobs } = parse(read('examples/pipelines/github-actions.yml')) as {
        jobs: Record<typeof job, Job>
      }
      const { env, steps } = jobs[job]
      const filled = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)]))
      const outputs: string[] = []
      for (const step of steps) {
        if (step.run === undefined) continue
        const platform = withGitHub(job === 'preview' ? onPullRequest : onPush)
        const ended = await shell(fill(step.run), { ...filled, ...platform }, cwd)
        expect(ended).toMatchObject({ code: 0 })
        outputs.push(ended.stdout)
      }
      return outputs
    }

    test('previews the changes of a pull request', async () => {
      const [output, ...others] = await run('preview', 'abc')
      expect(output).toContain('3 would be created')
      expect(others).toEqual([])
    })

    test('applies and deploys a pushed commit once, also if the job is repeated', async () => {
      await run('deploy', 'c0ffee')
      await deployed('c0ffee')
      const before = (await api.get('/deployments')).body.meta.total
      await run('deploy', 'c0ffee')
      expect((await api.get('/deployments')).body.meta.total).toBe(before)
    })
  })

  test('gitlab-ci.yml applies and deploys', async () => {
    const jobs = parse(read('examples/pipelines/gitlab-ci.yml')) as Record<string, GitLabJob>
    for (const name of ['catalog', 'deploy']) {
      await runOnGitLab(jobs[name], { CI_COMMIT_SHA: 'decade', CI_JOB_ID: '4711' })
    }
    await deployed('decade')
  })

  test('Jenkinsfile applies and deploys, and writes no token to its log', async () => {
    const text = read('examples/pipelines/Jenkinsfile')
    const stages = text.split(/\bstage\(/).slice(1)
    expect(stages).toHaveLength(2)
    for (const stage of stages) {
      const SLIPWAY_SERVICE_ACCOUNT = /SLIPWAY_SERVICE_ACCOUNT = '(.*?)'/.exec(stage)?.[1] ?? ''
      expect(stage).toContain("SLIPWAY_ID_TOKEN = credentials('slipway-id-token')")
      const scripts = [...stage.matchAll(/\bsh (?:'''(.*?)'''|'(.*?)')/gs)]
      expect(scripts.length).toBeGreaterThan(0)
      for (const [, long, short = 'false'] of scripts) {
        const sub = 'https://jenkins.example.com/job/shop/job/main/'
        const SLIPWAY_ID_TOKEN = await issuer.token({ sub, aud: suite.url })
        const env = { SLIPWAY_SERVICE_ACCOUNT, SLIPWAY_ID_TOKEN, GIT_COMMIT: 'facade', BUILD_TAG: 'jenkins-7' }
        // Jenkins runs scripts with -x.
        const ended = await shell(`set -x\n${long ?? short}`, env, cwd)
        expect(ended).toMatchObject({ code: 0 })
        expect(ended.stdout + ended.stderr).not.toContain('eyJ')
      }
    }
    await deployed('facade')
  })

  test('the component of GitLab previews, and applies and deploys', async () => {
    const [header, body] = read('examples/pipelines/component/templates/slipway.yml').split(/^---$/m)
    const { spec } = parse(header ?? '') as { spec: { inputs: Record<string, { default?: string }> } }
    const accounts = { 'preview-account': 'shop-preview', account: 'shop-apply' }
    const given: Record<string, string> = { ...accounts, source: 'web', tag: 'app=web' }
    const filled = (body ?? '').replace(/\$\[\[ inputs\.([\w-]+) \]\]/g, (_, name: string) => {
      const value = given[name] ?? spec.inputs[name]?.default
      if (value === undefined) throw new Error(`the component has no input ${name}`)
      return value
    })
    const jobs = parse(filled) as Record<string, GitLabJob>
    for (const name of ['slipway-preview', 'slipway-deploy']) {
      await runOnGitLab(jobs[name], { CI_COMMIT_SHA: 'facet', CI_JOB_ID: '4712' })
    }
    await deployed('facet')
  })

  test('the account for pull requests shows what is in force, and neither previews nor deploys', async () => {
    const env = { SLIPWAY_SERVICE_ACCOUNT: 'shop-preview', ...withGitHub(onPullRequest) }
    const shown = await shell('slipway where web && slipway matrix && slipway freezes check', env, cwd)
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('web-1') })
    for (const subcommand of ['preview', 'deploy']) {
      const ended = await shell(`slipway ${subcommand} web --tag app=web --var revision=abc`, env, cwd)
      expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('deployments:create') })
    }
  })

  test('the account for applying uploads content', async () => {
    const env = { SLIPWAY_SERVICE_ACCOUNT: 'shop-apply', ...withGitHub(onPush) }
    const ended = await shell('slipway content upload README.md', env, cwd)
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('README.md') })
  })

  test.each([
    ['a pull request', onPullRequest],
    ['another branch', { ...onPush, ref: 'refs/heads/other' }],
    ['a fork', { ...onPush, repository: 'stranger/shop' }],
    ['the main branch, for a pull request of a fork', { ...onPush, event_name: 'pull_request_target' }],
  ])('a job of %s does not get the account for applying', async (_, job) => {
    const env = { SLIPWAY_SERVICE_ACCOUNT: 'shop-apply', ...withGitHub(job) }
    expect(await shell('slipway status', env, cwd)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('INVALID_TOKEN'),
    })
  })
})

/** The lines of a text without parts that differ in each run: ids, times, ports, process ids, widths of columns. */
const lines = (text: string) =>
  text
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64}/g, 'ID')
    // Tables show seconds where several rows fall into one minute.
    .replace(/(\d\d:\d\d):\d\d UTC/g, '$1 UTC')
    .replace(/\d+(\.\d+)? (ms|s|min)( \d+ s)?$/gm, 'TIME')
    .replace(/\d+(\.\d+)? (ms|s|min)( \d+ s)? /g, 'TIME ')
    .replace(/\d+/g, 'N')
    .split('\n')
    .map((line) => line.trim().replace(/\s+/g, ' '))
    .filter((line) => line !== '')

describe('docs/promotion.md', () => {
  test('its commands promote a version that somebody else approves, and print what the page shows', async () => {
    fs.cpSync(path.join(repositoryRoot, 'examples'), path.join(repository(), 'examples'), { recursive: true })
    const script = `exec 2>&1\n${blocks('docs/promotion.md', 'sh').join('\n')}`
    const ended = await shell(script, { TZ: 'UTC' }, repository())
    expect(ended).toMatchObject({ code: 0 })
    const printed = lines(ended.stdout)
    const shown = blocks('docs/promotion.md', 'text').flatMap(lines)
    // The line of a table is shown without its other columns.
    expect(shown.filter((line) => !printed.some((one) => one.includes(line)))).toEqual([])
    expect(ended.stdout).toContain('Tested on staging')
  })
})

describe('docs/tutorial.md', () => {
  const servers = () => path.join(repository(), 'examples/tutorial/servers.sh')
  afterAll(() => shell(`sh ${servers()} stop`, {}, repository()))

  test('its commands print every output that the page shows, from the first release to the freeze', async () => {
    fs.cpSync(path.join(repositoryRoot, 'examples'), path.join(repository(), 'examples'), { recursive: true })
    const env = { TZ: 'UTC', TUTORIAL_DIRECTORY: '' }
    const ended = await shell(`exec 2>&1\n${blocks('docs/tutorial.md', 'sh').join('\n')}`, env, repository())
    expect(ended).toMatchObject({ code: 0 })
    const printed = new Set(lines(ended.stdout))
    const shown = blocks('docs/tutorial.md', 'text').flatMap(lines)
    expect(shown.filter((line) => !printed.has(line))).toEqual([])
    // The normalization replaces numbers, so they are checked here.
    expect(ended.stdout).toContain('shop-3: Shop 1.1.1: a book costs 12.00 EUR\n')
    expect(ended.stdout.match(/: stopped sshd /g)).toHaveLength(4)
  })
})

/** The server refuses text that is no key. */
const newKey = () =>
  generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey

describe('docs/catalog.md', () => {
  test('its examples can be applied together, and a second apply changes nothing', async () => {
    const folder = path.join(suite.folder, 'catalog-page')
    fs.mkdirSync(folder)
    fs.writeFileSync(path.join(folder, 'all.yaml'), blocks('docs/catalog.md', 'yaml').join('---\n'))
    const script = [
      'printf test >orders.conf',
      'slipway apply -f all.yaml',
      'slipway apply -f all.yaml --dry-run --exit-code',
    ].join('\n')
    const ended = await shell(script, { SLIPWAY_TOKEN: api.token, ORDERS_KEY: newKey() }, folder)
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('12 created') })
  })
})

test('Git ignores the files that the examples leave', () => {
  const list = (...args: string[]) =>
    execFileSync('git', args, { cwd: repositoryRoot, encoding: 'utf8' }).split('\n').filter(Boolean)
  const tracked = new Set(list('ls-files').map((file) => file.split('/')[0]))
  const left = fs.readdirSync(repository()).filter((name) => !tracked.has(name) && !name.startsWith('.'))
  expect(left).toEqual(expect.arrayContaining(['answer.json', 'first.yaml', 'join-token']))
  expect(list('check-ignore', '--no-index', ...left)).toEqual(left)
})

/** Fills in `${{ name }}` as GitHub does. */
function fillIn(text: string, known: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{\{ *([\w.-]+) *\}\}/g, (_, name: string) => {
    if (known[name] === undefined) throw new Error(`the test does not know ${name}`)
    return known[name]
  })
}
