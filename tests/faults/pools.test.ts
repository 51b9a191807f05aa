// Instances with labels in separate networks: deployments run only on matching instances, whatever process is killed.
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  type Api,
  completeLines,
  createAction,
  createLocalTarget,
  createNetworks,
  deploymentEnd,
  dispatchedDeployment,
  loginToSuite,
  type Network,
  networksProblem,
  type ServiceName,
  type Suite,
  startSuite,
  violatedInvariants,
  waitFor,
} from '@slipway/testing'

const problem = networksProblem()
const inNetworks = problem === null ? describe : describe.skip

/** The zone of each instance. Two instances serve zone a. */
const INSTANCES = [
  { process: 'orchestration-instance', name: 'one', zone: 'a' },
  { process: 'orchestration-instance-2', name: 'two', zone: 'b' },
  { process: 'orchestration-instance-3', name: 'three', zone: 'a' },
] as const satisfies { process: ServiceName; name: string; zone: string }[]
type InstanceName = (typeof INSTANCES)[number]['name']

const zone = (value: string) => ({ match_labels: { zone: value } })

inNetworks(`pools of instances in separate networks${problem === null ? '' : ` (skipped: ${problem})`}`, () => {
  let networks: Network[] = []
  let suite: Suite
  let api: Api
  /** The instances by the ids of their network namespaces. */
  const instanceOf = new Map<string, InstanceName>()
  let target: { a: string; b: string; any: string }
  let action: string
  let count = 0

  const startLabelled = ({ process, zone }: (typeof INSTANCES)[number]) =>
    suite.start(process, { SLIPWAY_INSTANCE_LABELS: `zone=${zone}` })

  beforeAll(async () => {
    networks = createNetworks(INSTANCES.length)
    // The join tokens allow any zone. Each instance claims its own zone later.
    suite = await startSuite({ networks, capacity: 2, env: { SLIPWAY_INSTANCE_LABELS: 'zone=none' } })
    for (const [index, { name }] of INSTANCES.entries()) {
      const readlink = ['netns', 'exec', networks[index]?.name ?? '', 'readlink', '/proc/self/ns/net']
      instanceOf.set(execFileSync('ip', readlink, { encoding: 'utf8' }).trim(), name)
    }
    for (const { process } of INSTANCES) await suite.kill(process, 'SIGTERM')
    await Promise.all(INSTANCES.map(startLabelled))
    api = await loginToSuite(suite)
    target = {
      a: await createLocalTarget(api, { instance_selector: zone('a') }),
      b: await createLocalTarget(api, { instance_selector: zone('b') }),
      any: await createLocalTarget(api),
    }
    const script = 'readlink /proc/self/ns/net >> "$SLIPWAY_VAR_PLACES"; sleep "$SLIPWAY_VAR_SECONDS"'
    action = await createAction(api, { script })
    await waitFor(async () => (await labels()).join() === 'zone=a,zone=a,zone=b', {
      what: 'the labels of the instances',
    })
  })
  afterAll(async () => {
    try {
      await suite?.stop()
    } finally {
      for (const network of networks) network.remove()
    }
  })

  const instances = async () =>
    (await api.get('/admin/instances')).body.data as { name: string; status: string; labels: Record<string, string> }[]
  const labels = async () => (await instances()).map((one) => `zone=${one.labels['zone']}`).sort()

  /** Creates a deployment. `places` are the instances in whose networks its command has started, in order. */
  async function create(target_ids: string[], seconds = 0) {
    count += 1
    const file = path.join(suite.folder, `places-${count}`)
    const variables = { places: file, seconds }
    const { status, body } = await api.post('/deployments', {
      action_id: action,
      target_ids,
      variables,
      max_retries: 3,
    })
    return { status, body, places: () => completeLines(file).map((id) => instanceOf.get(id)) }
  }
  type Created = Awaited<ReturnType<typeof create>>

  async function success({ status, body }: Created): Promise<void> {
    const id = status === 201 ? body.deployment_id : await dispatchedDeployment(api, body.pending_request_id)
    expect((await deploymentEnd(api, id)).state).toBe('success')
  }
  const pending = async ({ body }: Created) =>
    ((await api.get('/deployments/pending')).body as { id: string }[]).find(({ id }) => id === body.pending_request_id)

  test('deployments run only on instances that match', async () => {
    const [ofA, ofB] = [[] as Created[], [] as Created[]]
    for (let n = 0; n < 6; n += 1) {
      ofA.push(await create([target.a, target.any], 0.5))
      ofB.push(await create([target.b], 0.5))
    }
    for (const created of [...ofA, ...ofB]) await success(created)
    expect(new Set(ofA.flatMap((created) => created.places()))).toEqual(new Set(['one', 'three']))
    expect(new Set(ofB.flatMap((created) => created.places()))).toEqual(new Set(['two']))
  })

  test('targets of both zones are refused, with the targets of each pool', async () => {
    const { status, body } = await create([target.a, target.b])
    expect(status).toBe(400)
    expect(body.error.code).toBe('VALIDATION_ERROR')
    expect(body.error.details.pools).toMatchObject([
      { pool: 'zone=a', target_count: 1, targets: [{ id: target.a }] },
      { pool: 'zone=b', target_count: 1, targets: [{ id: target.b }] },
    ])
  })

  test('a deployment of a killed instance moves to the other matching one, and waits if none is left', async () => {
    const running = await create([target.a], 15)
    expect(running.status).toBe(201)
    await waitFor(() => running.places().length === 1, { what: 'the command to start' })
    const [first] = running.places()
    const [killed, other] = first === 'one' ? [INSTANCES[0], INSTANCES[2]] : [INSTANCES[2], INSTANCES[0]]
    await suite.kill(killed.process)
    await success(running)
    expect(running.places()).toEqual([killed.name, other.name])

    await suite.kill(other.process)
    await waitFor(async () => (await instances()).filter(({ status }) => status === 'offline').length === 2, {
      what: 'both instances of zone a to count as lost',
    })
    const waiting = await create([target.a])
    expect(waiting.status).toBe(202)
    expect(waiting.body.warnings).toEqual([
      expect.stringContaining('needs an instance that matches zone=a, and none is online'),
    ])
    // Deployments of other pools start at once, although the request is first in the queue.
    const others = [await create([target.b]), await create([target.any])]
    expect(others.map(({ status }) => status)).toEqual([201, 201])
    for (const one of others) await success(one)
    expect(others.flatMap((one) => one.places())).toEqual(['two', 'two'])
    expect(await pending(waiting)).toMatchObject({
      waiting_for: 'instance_pool',
      waiting_reason:
        'No orchestration instance that matches zone=a can take it: of 2 instances 2 sent no heartbeat for 30 seconds',
      instance_pool: { name: 'zone=a', known: 3, matching: 2, accepting: 0 },
    })

    await startLabelled(killed)
    await success(waiting)
    expect(waiting.places()).toEqual([killed.name])
    expect(await violatedInvariants(suite.databaseUrl)).toEqual([])
  })
})
