import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  createLocalTarget,
  deploymentEnd,
  dispatchedDeployment,
  logHistory,
  loginToSuite,
  repositoryRoot,
  type Suite,
  startSuite,
} from '@slipway/testing'

// The whole way of values: from a request, over the queue, into real interpreters and back as output.

const [oldKey, newKey] = ['old', 'new'].map((id) => `${id}:${randomBytes(32).toString('base64')}`)

let suite: Suite
let api: Api

beforeAll(async () => {
  // All services know the second key, which seals nothing yet, as in the first step of a change of keys.
  suite = await startSuite({ capacity: 1, env: { SLIPWAY_ENCRYPTION_KEYS: `${oldKey},${newKey}` } })
  api = await loginToSuite(suite)
})

afterAll(() => suite.stop())

async function ran(body: Record<string, unknown>) {
  const answer = await api.post('/deployments', body)
  expect({ status: answer.status, error: answer.body.error }).toEqual({ status: 201, error: undefined })
  const deployment = await deploymentEnd(api, answer.body.deployment_id)
  const lines = (await logHistory(api, deployment.id)).map(({ message }) => message)
  return { deployment, lines }
}

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: a shell's, not ours
const HOSTILE = [
  '"; echo taken; "',
  "'; echo taken; '",
  '$(echo taken)`echo taken`${HOME}',
  "\\'; echo taken #",
  '{{ other }} && echo taken',
  '"""+__import__("os").system("echo taken")+"""',
  '"+require("child_process").execSync("echo taken")+"',
  '*?[a]~ | ; < > ( ) { } !',
]
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above
const SCRIPTS: Record<string, string> = {
  sh: `printf '%s\\n' {{ value }} "{{ value }}" "$SLIPWAY_VAR_VALUE"`,
  bash: `printf '%s\\n' {{ value }} "{{ value }}" "$SLIPWAY_VAR_VALUE"`,
  python3: 'import os\nprint({{ value }})\nprint({{ value }})\nprint(os.environ["SLIPWAY_VAR_VALUE"])',
  node: 'console.log({{ value }})\nconsole.log({{ value }})\nconsole.log(process.env.SLIPWAY_VAR_VALUE)',
}

test.each(Object.entries(SCRIPTS))(
  'hostile values reach %s unchanged, by template and by environment, from the request and from targets',
  async (interpreter, script) => {
    const action_id = await createAction(api, { interpreter, script })
    const targets = await Promise.all(HOSTILE.map((value) => createLocalTarget(api, { variables: { value } })))
    const own = await ran({ action_id, target_ids: targets })
    expect(own.deployment.state).toBe('success')
    expect(own.lines).toEqual(HOSTILE.flatMap((value) => [value, value, value]))
    const value = HOSTILE.join(' ')
    const given = await ran({ action_id, target_ids: targets.slice(0, 1), variables: { value } })
    expect(given.lines).toEqual([value, value, value])
  },
)

test('a sensitive value of every layer reaches the command and is never shown', async () => {
  const secrets = ['from-the-target', 'from-the-request', 'prompted-for-it', 'the-very-default']
  const action_id = await createAction(api, {
    script: 'echo "$SLIPWAY_VAR_A {{ b }} {{ c }} {{ d }}" | tr a-z b-za; echo "{{ a }} {{ b }} {{ c }} {{ d }}"',
    variables: [
      { name: 'a', sensitive: true },
      { name: 'b', sensitive: true },
      { name: 'c', sensitive: true, prompted: true, required: true },
      { name: 'd', sensitive: true, default: secrets[3] },
    ],
  })
  const target = await createLocalTarget(api, { variables: { a: secrets[0] }, sensitive_variables: ['a'] })
  const body = { action_id, target_ids: [target], variables: { b: secrets[1] } }
  expect((await api.post('/deployments', body)).body.error.details.errors).toEqual([
    { path: '/variables/c', message: expect.stringContaining('required') },
  ])
  const request = { ...body, prompted_values: { c: secrets[2] } }
  const preview = await api.post('/deployments/preview', request)
  expect(preview.body.variables).toEqual({ b: '***', c: '***', d: '***' })
  const { deployment, lines } = await ran(request)
  const shifted = secrets.map((text) =>
    text.replace(/[a-z]/g, (c) => (c === 'z' ? 'a' : String.fromCharCode(c.charCodeAt(0) + 1))),
  )
  expect(lines).toEqual([shifted.join(' '), '*** *** *** ***'])
  const shown = [preview.body, deployment, lines]
  for (const place of [
    '/audit/logs?limit=100',
    `/actions/${action_id}/versions/1.0.0`,
    `/targets/${target}`,
    '/deployments',
  ]) {
    shown.push((await api.get(place)).body)
  }
  for (const secret of secrets) expect(JSON.stringify(shown)).not.toContain(secret)
})

test('a variable that a record marks as sensitive reaches the command and is never shown', async () => {
  const secrets = ['of-the-environment', 'of-the-target', 'of-the-request']
  const action_id = await createAction(api, {
    script:
      'echo "$SLIPWAY_VAR_A $SLIPWAY_VAR_B" | tr a-z b-za; echo "{{ a }} {{ b }}"; echo "$SLIPWAY_VAR_B" >&2; exit 3',
  })
  const { body: environment } = await api.post('/environments', {
    name: 'marks a variable',
    variables: { a: secrets[0], region: 'eu-west' },
    sensitive_variables: ['a'],
  })
  const target = await createLocalTarget(api, { variables: { b: secrets[1] }, sensitive_variables: ['b'] })
  const request = { action_id, environment_id: environment.id, target_ids: [target] }
  const preview = await api.post('/deployments/preview', request)
  expect(preview.body.variables).toEqual({ a: '***', region: 'eu-west' })
  const first = await ran(request)
  const shifted = secrets.map((text) =>
    text.replace(/[a-z]/g, (c) => (c === 'z' ? 'a' : String.fromCharCode(c.charCodeAt(0) + 1))),
  )
  expect(first.lines.slice(0, 3)).toEqual([`${shifted[0]} ${shifted[1]}`, '*** ***', '***'])
  const again = await api.post(`/deployments/${first.deployment.id}/redeploy`)
  await deploymentEnd(api, again.body.id)
  const second = await ran({ ...request, variables: { b: secrets[2] } })
  expect(second.lines[1]).toBe('*** ***')
  const shown = [preview.body, first, again.body, second]
  for (const place of [
    `/deployments/${first.deployment.id}/analysis`,
    `/deployments/${again.body.id}`,
    `/deployments/${again.body.id}/logs/history`,
    `/environments/${environment.id}`,
    `/targets/${target}`,
    '/targets',
    '/audit/logs?limit=100',
  ]) {
    shown.push((await api.get(place)).body)
  }
  for (const secret of secrets) expect(JSON.stringify(shown)).not.toContain(secret)
})

test('a freeze that begins while a request is pending holds the request until the end of the freeze', async () => {
  const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
  const environment_id = (await api.post('/environments', { name: 'frozen later' })).body.id
  const target_ids = [await createLocalTarget(api)]
  const quick = await createAction(api)
  const slow = await createAction(api, { script: 'sleep 600' })
  const running = await api.post('/deployments', { action_id: slow, target_ids })
  const { warnings } = (await api.post('/deployments/preview', { action_id: quick, target_ids })).body
  expect(warnings).toEqual(['No orchestration instance is free: the deployment would be queued'])
  const held = await api.post('/deployments', { action_id: quick, target_ids, environment_id, priority: 50 })
  const next = await api.post('/deployments', { action_id: quick, target_ids })
  expect([held.status, next.status]).toEqual([202, 202])
  const { body: freeze } = await api.post('/deployment-freezes', {
    name: 'Came later',
    start_time: at(-1),
    end_time: at(60),
    environment_id,
  })
  const waiting = async () =>
    (await api.get('/deployments/pending')).body.find(
      (each: { id: string }) => each.id === held.body.pending_request_id,
    )
  expect(await waiting()).toMatchObject({
    waiting_for: 'freeze',
    waiting_reason: `Held back by freeze "Came later" until ${freeze.end_time}`,
  })
  await api.post(`/deployments/${running.body.deployment_id}/cancel`)
  // The next request is not held and starts first.
  await deploymentEnd(api, await dispatchedDeployment(api, next.body.pending_request_id))
  expect(await waiting()).toMatchObject({ status: 'pending', retry_count: 0, waiting_for: 'freeze' })
  await api.call('PATCH', `/deployment-freezes/${freeze.id}`, { end_time: at(-0.5) })
  const deployment = await deploymentEnd(api, await dispatchedDeployment(api, held.body.pending_request_id))
  expect(deployment.state).toBe('success')
})

test('encryption keys can be changed while deployments run, and older secrets can still be opened', async () => {
  const action_id = await createAction(api, {
    script: 'echo "{{ token }}" | tr a-z b-za',
    variables: [{ name: 'token', sensitive: true }],
  })
  const target = await createLocalTarget(api, { variables: { own: 'x' } })
  const body = { action_id, target_ids: [target], variables: { token: 'abcdefgh' } }
  const first = await ran(body)
  const rotate = promisify(execFile)(
    process.execPath,
    [path.join(repositoryRoot, 'services/gateway/dist/keys/rotate.js')],
    {
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: suite.databaseUrl,
        SLIPWAY_ENCRYPTION_KEYS: `${newKey},${oldKey}`,
      },
    },
  )
  for (let count = 0; count < 3; count += 1) expect((await ran(body)).lines).toEqual(['bcdefghi'])
  const { stdout } = await rotate
  expect(stdout).toContain('targets.variables_sealed: ')
  expect(stdout).toContain('Done: every secret is sealed under the key new. You can remove the other keys.')
  const again = await api.post(`/deployments/${first.deployment.id}/redeploy`)
  await deploymentEnd(api, again.body.id)
  expect((await logHistory(api, again.body.id)).map(({ message }) => message)).toEqual(['bcdefghi'])
})
