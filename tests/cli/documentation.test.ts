// What the documents and the example pipelines show, run against a running suite.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Api, loginToSuite, repositoryRoot, type Suite, startSuite } from '@slipway/testing'
import { parse } from 'yaml'
import { installPackage, linkPackage } from './installed.ts'
import { binFolder, start } from './slipway.ts'

let suite: Suite
let api: Api
let key: string

beforeAll(async () => {
  suite = await startSuite()
  api = await loginToSuite(suite)
  const { body } = await api.post('/auth/api-keys', { name: 'pipeline' })
  key = body.full_key
  fs.mkdirSync(path.join(repository(), '.slipway'), { recursive: true })
  const { email, password } = suite.admin
  const settings = `SLIPWAY_ADMIN_EMAIL=${email}\nSLIPWAY_ADMIN_PASSWORD='${password}'\n`
  fs.writeFileSync(path.join(repository(), '.slipway/settings.env'), settings)
})
afterAll(() => suite?.stop())

/** A folder like the top of the repository after `make run`. */
const repository = () => path.join(suite.folder, 'repository')
const read = (name: string) => fs.readFileSync(path.join(repositoryRoot, name), 'utf8')
const blocks = (document: string, language: string) =>
  [...read(document).matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, text = '']) => text)

/** A shell as a pipeline has it: `slipway` in its PATH, and nothing of whoever runs the tests. */
async function shell(script: string, env: Record<string, string>, cwd: string) {
  const PATH = `${binFolder(suite.folder)}:${path.dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`
  const home = path.join(suite.folder, 'home')
  fs.mkdirSync(home, { recursive: true })
  return await start('bash', ['-c', `set -eu\n${script}`], {
    env: { HOME: home, SLIPWAY_URL: suite.url, ...env, PATH },
    cwd,
  }).ended
}

/** Why a block is not run here: what it needs, by what it contains. */
const ELSEWHERE: readonly [contains: string, where: string][] = [
  ['make package-cli', 'builds the repository; tests/cli/package.test.ts packs and installs the package'],
]
const isRunHere = (block: string) => !ELSEWHERE.some(([contains]) => block.includes(contains))

describe('docs/cli.md', () => {
  test('its commands do what it says', async () => {
    const cwd = repository()
    const script = blocks('docs/cli.md', 'sh').filter(isRunHere).join('\n')
    const ended = await shell(`${script}\necho it is done`, {}, cwd)
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/Good day, here[\s\S]*it is done\n$/) })
    expect(JSON.parse(fs.readFileSync(path.join(cwd, 'answer.json'), 'utf8'))).toMatchObject({ pending: false })
  })
})

describe('README.md', () => {
  test('its first deployment is one', async () => {
    const cwd = repository()
    const [login = 'false', deploy = 'false'] = blocks('README.md', 'sh')
    const ended = await shell(`${login}\n${deploy}`, {}, cwd)
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('my-machine | Good day, 3\n') })
  })
})

describe('docs/client.md', () => {
  test('its examples have the right types, and run with the installed package', async () => {
    const folder = path.join(suite.folder, 'client')
    fs.mkdirSync(folder, { recursive: true })
    linkPackage(installPackage(path.join(suite.folder, 'package')), folder)
    fs.writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }')
    fs.writeFileSync(path.join(folder, 'examples.ts'), blocks('docs/client.md', 'ts').join('\n'))
    const compilerOptions = { strict: true, target: 'es2022', module: 'nodenext', types: ['node'], outDir: 'out' }
    fs.writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['examples.ts'] }))
    const tsc = path.join(repositoryRoot, 'node_modules/.bin/tsc')
    execFileSync(tsc, ['-p', folder], { stdio: 'pipe' })

    const env = { SLIPWAY_URL: suite.url, SLIPWAY_API_KEY: key }
    const ended = await start(process.execPath, [path.join(folder, 'out/examples.js')], { env }).ended
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout).toContain('local-1: hello\nnow success\n')
    expect(ended.stdout).toContain("path: '/target_ids'")
  })
})

describe('examples/pipelines', () => {
  const cwd = path.join(repositoryRoot, 'examples/pipelines')
  /** What the pipeline deployed last. */
  const deployed = async (revision: string) => {
    const { body } = await api.get('/deployments?limit=1')
    const { body: deployment } = await api.get(`/deployments/${body.data[0].id}`)
    expect(deployment).toMatchObject({ state: 'success', action_name: 'web', config: { variables: { revision } } })
    expect(deployment.plan.target_count).toBe(2)
  }

  describe('github-actions.yml', () => {
    interface Job {
      env: Record<string, string>
      steps: { run?: string; if?: string }[]
    }
    const run = async (event: 'push' | 'pull_request', sha: string) => {
      const known: Record<string, string> = {
        'vars.SLIPWAY_URL': suite.url,
        'secrets.SLIPWAY_API_KEY': key,
        'github.sha': sha,
        'github.run_id': sha,
        'github.run_attempt': '1',
      }
      const fill = (text: string) =>
        text.replace(/\$\{\{ *([\w.]+) *\}\}/g, (_, name: string) => {
          if (known[name] === undefined) throw new Error(`the test does not know ${name}`)
          return known[name]
        })
      const { jobs } = parse(read('examples/pipelines/github-actions.yml')) as { jobs: { deploy: Job } }
      const { env, steps } = jobs.deploy
      const filled = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)]))
      const wanted = steps.filter((step) => step.if === undefined || step.if === `github.event_name == '${event}'`)
      const outputs: string[] = []
      for (const step of wanted) {
        if (step.run === undefined) continue
        const ended = await shell(fill(step.run), filled, cwd)
        expect(ended).toMatchObject({ code: 0 })
        outputs.push(ended.stdout)
      }
      return outputs
    }

    test('shows what a pull request would change', async () => {
      const [output, ...others] = await run('pull_request', 'abc')
      expect(output).toContain('3 would be created')
      expect(others).toEqual([])
    })

    test('applies and deploys what is pushed, once for each attempt', async () => {
      await run('push', 'c0ffee')
      await deployed('c0ffee')
      const before = (await api.get('/deployments')).body.meta.total
      await run('push', 'c0ffee')
      expect((await api.get('/deployments')).body.meta.total).toBe(before)
    })
  })

  test('gitlab-ci.yml applies and deploys', async () => {
    const jobs = parse(read('examples/pipelines/gitlab-ci.yml')) as Record<string, { script: string[] }>
    const env = { SLIPWAY_API_KEY: key, CI_COMMIT_SHA: 'decade', CI_JOB_ID: '4711' }
    for (const name of ['catalog', 'deploy']) {
      expect(await shell((jobs[name]?.script ?? ['false']).join('\n'), env, cwd)).toMatchObject({ code: 0 })
    }
    await deployed('decade')
  })

  test('Jenkinsfile applies and deploys', async () => {
    const text = read('examples/pipelines/Jenkinsfile')
    const scripts = [...text.matchAll(/\bsh (?:'''(.*?)'''|'(.*?)')/gs)].map(
      ([, long, short]) => long ?? short ?? 'false',
    )
    expect(scripts).toHaveLength(3)
    const env = { SLIPWAY_API_KEY: key, GIT_COMMIT: 'facade', BUILD_TAG: 'jenkins-7' }
    for (const script of scripts) expect(await shell(script, env, cwd)).toMatchObject({ code: 0 })
    await deployed('facade')
  })
})
