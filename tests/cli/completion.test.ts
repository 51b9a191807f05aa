// Completion in a real bash with readline, on a terminal.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  createLocalTarget,
  loginToSuite,
  type Suite,
  startSuite,
  waitFor,
} from '@slipway/testing'
import { binFolder } from './slipway.ts'

let suite: Suite
let api: Api
let deployment: string

beforeAll(async () => {
  suite = await startSuite()
  api = await loginToSuite(suite)
  const action = await createAction(api, { script: 'echo hello' }, 'Release front end')
  const target = await createLocalTarget(api, { name: 'web-1', tags: [{ key: 'role', value: 'frontend' }] })
  await createLocalTarget(api, { name: 'Web "two" & more' })
  await api.post('/environments', { name: 'production' })
  const { body } = await api.post('/deployments', { action_id: action, target_ids: [target] })
  deployment = body.deployment_id
})
afterAll(() => suite?.stop())

/** Types into a bash on a terminal, with Tab after the text and then Enter. Returns the arguments that slipway was called with. */
async function type(text: string, url = suite.url): Promise<string[]> {
  const folder = fs.mkdtempSync(path.join(suite.folder, 'typed-'))
  const called = path.join(folder, 'called')
  const setup = `PS1=ready; eval "$(slipway completion bash)"
slipway() { if [ "$1" = complete ]; then command slipway "$@"; else printf '%s\\n' "$@" >${called}.new; mv ${called}.new ${called}; fi; }
`
  fs.writeFileSync(path.join(folder, 'rc'), setup)
  const PATH = `${binFolder(suite.folder)}:${path.dirname(process.execPath)}:/usr/bin:/bin`
  const env = { PATH, HOME: folder, TERM: 'dumb', SLIPWAY_URL: url, SLIPWAY_TOKEN: api.token }
  const command = `bash --noprofile --rcfile ${path.join(folder, 'rc')} -i`
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: folder,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => child.on('close', resolve))
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  try {
    await waitFor(() => output.includes('ready'))
    child.stdin.write(`${text}\t\r`)
    await waitFor(() => fs.existsSync(called))
    return fs.readFileSync(called, 'utf8').trimEnd().split('\n')
  } finally {
    child.stdin.end('\rexit\r')
    await ended
  }
}

test.each([
  ['a target', 'slipway targets show web', ['targets', 'show', 'web-1']],
  ['a source with spaces', 'slipway deploy Rel', ['deploy', 'Release front end']],
  ['a source in quotes', 'slipway deploy "Release fr', ['deploy', 'Release front end']],
  ['a source after a backslash', 'slipway deploy Release\\ f', ['deploy', 'Release front end']],
  ['a name with quotes', 'slipway on Web', ['on', 'Web "two" & more']],
  ['the value of an option', 'slipway deploy x --environment prod', ['deploy', 'x', '--environment', 'production']],
  ['the value after "="', 'slipway deploy x --environment=prod', ['deploy', 'x', '--environment=production']],
  ['a tag', 'slipway deploy x --tag role=f', ['deploy', 'x', '--tag', 'role=frontend']],
])('completes %s', async (_, typed, expected) => {
  expect(await type(typed)).toEqual(expected)
})

test('completes the id of a deployment', async () => {
  expect(await type(`slipway logs ${deployment.slice(0, 6)}`)).toEqual(['logs', deployment])
})

test('completes commands alone, silently, when no server answers', async () => {
  expect(await type('slipway targets show web', 'http://127.0.0.1:9')).toEqual(['targets', 'show', 'web'])
  expect(await type('slipway targets sh', 'http://127.0.0.1:9')).toEqual(['targets', 'show'])
})
