import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeAll, expect, test } from '@jest/globals'
import {
  createAction,
  createLocalTargets,
  createSequence,
  deploymentEnd,
  dispatchedDeployment,
  logHistory,
  loginToSuite,
  openLogStream,
  readStream,
  repositoryRoot,
  type ServiceName,
  type Suite,
  startSuite,
  violatedInvariants,
} from '@slipway/testing'

// The previous release must run on the schema of this code, alone and beside this code. Without a release tag these tests
// are skipped. SLIPWAY_PREVIOUS names another revision, to try the tests themselves.

const git = (...args: string[]) => execFileSync('git', args, { cwd: repositoryRoot, encoding: 'utf8' }).trim()

/** The tag of the latest release before this commit. Null without a tag or without a history. */
function latestRelease(): string | null {
  try {
    return git('describe', '--tags', '--abbrev=0', '--match=v[0-9]*', 'HEAD')
  } catch {
    return null
  }
}

const revision = process.env['SLIPWAY_PREVIOUS'] || latestRelease()
const tried = revision === null ? test.skip : test

let previous = ''
let suite: Suite | undefined

/** Checks out and builds a revision in its own folder, once. */
function build(name: string): string {
  const folder = path.join(repositoryRoot, '.slipway/previous', git('rev-parse', `${name}^{commit}`))
  const built = path.join(folder, '.built')
  if (fs.existsSync(built)) return folder
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(folder, { recursive: true })
  const archive = execFileSync('git', ['archive', name], { cwd: repositoryRoot, maxBuffer: 256 * 1024 * 1024 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  execFileSync('make', ['-C', folder, 'build'], { stdio: ['ignore', 'ignore', 'inherit'] })
  fs.writeFileSync(built, '')
  return folder
}

beforeAll(() => {
  if (revision !== null) previous = build(revision)
}, 600_000)

afterEach(async () => {
  await suite?.stop()
  suite = undefined
})

/** Uses every service: a run with a stream, a pending request, a run that fails and is rolled back, and lists. */
async function work(running: Suite): Promise<void> {
  const api = await loginToSuite(running)
  const script = 'echo "{{ word }} one"; sleep 0.3; echo two'
  const variables = [{ name: 'word', sensitive: true, required: true }]
  const action = await createAction(api, { script, variables })
  const failing = await createAction(api, { script: 'exit 3', rollback: 'echo back' })
  const target_ids = await createLocalTargets(api, 2)
  const words = { target_ids, variables: { word: 'correct-horse' } }

  const first = await api.post('/deployments', { ...words, action_id: action })
  expect(first.status).toBe(201)
  const second = await api.post('/deployments', { ...words, action_id: action })
  expect(second.status).toBe(202)
  const messages = await readStream(await openLogStream(running, api, first.body.deployment_id))
  expect(messages.at(-1)).toMatchObject({ event: 'state_change', data: { new_state: 'success', log_lines: 4 } })
  expect((await logHistory(api, first.body.deployment_id)).map(({ stdout }) => stdout)).not.toContain(
    'correct-horse one',
  )
  const dispatched = await dispatchedDeployment(api, second.body.pending_request_id)
  expect(await deploymentEnd(api, dispatched)).toMatchObject({ state: 'success' })

  const sequence_id = await createSequence(api, [action, failing])
  const third = await api.post('/deployments', { ...words, sequence_id, rollback_strategy: 'all_executed' })
  expect(third.status).toBe(201)
  expect((await deploymentEnd(api, third.body.deployment_id)).state).toMatch(/failed|rolled_back/)
  expect((await api.get('/deployments?limit=10')).body.data).toHaveLength(3)
  expect(await violatedInvariants(running.databaseUrl)).toEqual([])
}

tried(
  'the previous release runs on the schema of this code',
  async () => {
    suite = await startSuite({ capacity: 1, codeOf: () => previous })
    await work(suite)
  },
  300_000,
)

/** Bridge and instances need the same release, because they refuse other minor versions. */
const HALVES: [string, ServiceName[]][] = [
  ['gateway and dispatcher', ['gateway', 'dispatcher']],
  ['planner and log-stream', ['planner', 'log-stream']],
  ['bridge and instance', ['executor-bridge', 'orchestration-instance']],
]

for (const [words, names] of HALVES) {
  tried(
    `${words} of the previous release work with the other services of this code`,
    async () => {
      suite = await startSuite({ capacity: 1, codeOf: (name) => (names.includes(name) ? previous : repositoryRoot) })
      await work(suite)
    },
    300_000,
  )
}
