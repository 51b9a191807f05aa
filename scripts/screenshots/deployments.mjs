// Real deployments that fill the screens: some have ended well, some failed, some run, some wait.
import { loginToSuite, waitFor } from '../../tests/support/dist/index.js'

const HOUR_MS = 3_600_000
/** Seconds that each step of a running deployment takes, so that it still runs when its picture is taken. */
const SLOW = 20

const ended = ['success', 'failed', 'rolled_back', 'cancelled']

async function idOf(api, path, name) {
  const { body } = await api.get(`${path}?search=${encodeURIComponent(name)}`)
  const record = body.data.find((one) => one.name === name)
  if (record === undefined) throw new Error(`there is no ${name} at ${path}`)
  return record.id
}

async function post(api, path, body) {
  const answer = await api.post(path, body)
  if (answer.status > 202) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

async function addTargets(api, environments) {
  const groups = [
    {
      environment: 'production',
      app: 'storefront',
      names: ['web-01', 'web-02', 'web-03', 'web-04', 'web-05', 'web-06'],
    },
    { environment: 'production', app: 'payments', names: ['pay-01', 'pay-02', 'pay-03'] },
    { environment: 'staging', app: 'storefront', names: ['staging-web-01', 'staging-web-02'] },
    { environment: 'staging', app: 'payments', names: ['staging-pay-01'] },
  ]
  for (const { environment, app, names } of groups) {
    for (const name of names) {
      await post(api, '/targets', {
        name,
        connection: { type: 'local' },
        environment_id: environments[environment],
        tags: [
          { key: 'app', value: app },
          { key: 'stage', value: environment },
        ],
      })
    }
  }
}

/** Publishes versions after the first one, which the catalog holds. */
async function publish(api, path, id, first, versions, change = (definition) => definition) {
  const { body } = await api.get(`${path}/${id}/versions/${first}`)
  for (const version of versions)
    await post(api, `${path}/${id}/versions`, { version, definition: change(body.definition) })
}

/** Makes everything, and returns the ids that the pictures need. Two deployments run, four requests wait. */
export async function makeData(api) {
  const environments = {
    production: await idOf(api, '/environments', 'production'),
    staging: await idOf(api, '/environments', 'staging'),
  }
  await api.call('PATCH', `/environments/${environments.staging}`, { position: 1 })
  await api.call('PATCH', `/environments/${environments.production}`, { position: 2 })
  await addTargets(api, environments)
  const storefront = await idOf(api, '/solutions', 'storefront')
  const payments = await idOf(api, '/solutions', 'payments')
  await publish(api, '/solutions', storefront, '1.4.0', ['1.4.1', '1.5.0'])
  await publish(api, '/solutions', payments, '2.3.0', ['2.3.1'])
  const health = await idOf(api, '/actions', 'Check health')
  await publish(api, '/actions', health, '1.0.0', ['1.1.0'], (definition) => ({
    ...definition,
    script: definition.script.replace(/^echo "GET .*$/m, 'echo "GET http://$SLIPWAY_TARGET_NAME:8080/health?deep=1"'),
    timeout_seconds: 60,
    max_retries: 2,
  }))

  const deploy = (solution_id, app, stage, more = {}) =>
    post(api, '/deployments', {
      solution_id,
      environment_id: environments[stage],
      target_tags: [
        { key: 'app', value: app },
        { key: 'stage', value: stage },
      ],
      target_tags_match_all: true,
      ...more,
    })
  const isOver = async ({ deployment_id }) =>
    ended.includes((await api.get(`/deployments/${deployment_id}`)).body.state)
  const end = (started) => waitFor(() => isOver(started), { timeoutMs: 300_000 })

  const rollback = { rollback_strategy: 'failed_target_only', target_mode: 'parallel' }
  for (const [solution, app, stage, more] of [
    [storefront, 'storefront', 'staging', { version_requirement: '1.4.1' }],
    [storefront, 'storefront', 'production', { version_requirement: '1.4.1', target_mode: 'parallel' }],
    [payments, 'payments', 'staging', {}],
    [payments, 'payments', 'production', { ...rollback, variables: { sick: 'pay-02' } }],
    [storefront, 'storefront', 'production', { target_mode: 'parallel', variables: { full_disk: 'web-03' } }],
    [payments, 'payments', 'production', { variables: { sick: 'pay-03' } }],
    [storefront, 'storefront', 'staging', {}],
  ]) {
    await end(await deploy(solution, app, stage, more))
  }

  const at = (hours) => new Date(Date.now() + hours * HOUR_MS).toISOString()
  await post(api, '/deployment-freezes', {
    name: 'Night of the shop',
    start_time: at(9),
    end_time: at(17),
    recurrence: 'FREQ=DAILY',
    environment_id: environments['production'],
  })
  const running = await deploy(storefront, 'storefront', 'production', {
    target_mode: { rolling: { batch_size: 2 } },
    variables: { pace: SLOW, artifact: 'storefront-1.5.0.tar.gz' },
  })
  await deploy(payments, 'payments', 'production', { variables: { pace: 3 * SLOW } })
  for (const priority of [20, 0, 0]) {
    await deploy(storefront, 'storefront', 'production', { priority })
  }
  await deploy(payments, 'payments', 'staging', { priority: -10 })
  await post(api, '/deployment-freezes', {
    name: 'Load test of the payments',
    start_time: at(-1),
    end_time: at(5),
    environment_id: environments['staging'],
  })
  return { running: running.deployment_id, storefront, health }
}

/** Production asks for approvals of what staging has. Another user asks for a deployment. Returns its request. */
export async function askForApproval(api, { url, storefront }) {
  const production = await idOf(api, '/environments', 'production')
  const from_environment_id = await idOf(api, '/environments', 'staging')
  const rules = { approvals: { count: 2 }, promotion: { from_environment_id } }
  const { status } = await api.call('PATCH', `/environments/${production}`, { rules })
  if (status !== 200) throw new Error(`the rules were refused: ${status}`)
  const nina = { email: 'nina@example.com', password: 'correct horse battery staple' }
  await post(api, '/admin/users', { ...nina, username: 'nina', roles: ['operator'] })
  const own = await loginToSuite({ url, admin: nina })
  const request = {
    solution_id: storefront,
    environment_id: production,
    target_tags: [
      { key: 'app', value: 'storefront' },
      { key: 'stage', value: 'production' },
    ],
    target_tags_match_all: true,
  }
  const { pending_request_id } = await post(own, '/deployments', request)
  return pending_request_id
}
