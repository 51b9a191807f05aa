// One deployment at a time works on a target. The marks that commands leave there prove it.
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  connectTo,
  createAction,
  createLocalTarget,
  createSequence,
  createWithRetries,
  deploymentEnd,
  dispatchedDeployment,
  loginToSuite,
  type ServiceName,
  type Suite,
  startSuite,
  violatedInvariants,
} from '@slipway/testing'
import fc from 'fast-check'

let suite: Suite
let api: Api

beforeAll(async () => {
  suite = await startSuite()
  api = await loginToSuite(suite)
})

afterEach(() => suite.restore())

afterAll(() => suite.stop())

const ROUNDS = 5
const TARGETS = ['a', 'b', 'c']
const KILLED = ['orchestration-instance', 'executor-bridge', 'dispatcher'] satisfies ServiceName[]

/** Writes the time repeatedly into a file of the target and the deployment. So the life of a killed command is known. */
const marking = (marks: number) => `
n=0
while [ $n -lt ${marks} ]; do
  date +%s%N >> "$SLIPWAY_VAR_FOLDER/$SLIPWAY_TARGET_NAME.$SLIPWAY_DEPLOYMENT_ID"
  sleep 0.02
  n=$((n + 1))
done`
/** Fails after the marks on the targets that the deployment names. */
const mayFail = '\ncase ",$SLIPWAY_VAR_FAILING," in *",$SLIPWAY_TARGET_NAME,"*) exit 1;; esac'

const deployment = fc.record({
  targets: fc.subarray(TARGETS, { minLength: 1 }),
  failing: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.subarray(TARGETS)),
  priority: fc.integer({ min: -1, max: 1 }),
  target_mode: fc.constantFrom('sequential' as const, 'parallel' as const, { rolling: { batch_size: 1 } }),
  rollback_strategy: fc.constantFrom('none' as const, 'failed_target_only' as const, 'all_executed' as const),
  cancelledAfterMs: fc.option(fc.integer({ min: 50, max: 900 }), { freq: 4 }),
})
const round = fc.record({
  deployments: fc.array(deployment, { minLength: 2, maxLength: 4 }),
  killed: fc.option(fc.record({ service: fc.constantFrom(...KILLED), afterMs: fc.integer({ min: 20, max: 1_000 }) }), {
    freq: 5,
  }),
})
type Round = typeof round extends fc.Arbitrary<infer R> ? R : never

interface Fleet {
  folder: string
  ids: Record<string, string>
  sequence_id: string
}

async function createFleet(): Promise<Fleet> {
  const folder = fs.mkdtempSync(path.join(suite.folder, 'marks-'))
  const ids: Record<string, string> = {}
  for (const name of TARGETS) ids[name] = await createLocalTarget(api, { name, concurrency: 'queue' })
  const prepare = await createAction(api, { script: marking(6) })
  const change = await createAction(api, { script: marking(6) + mayFail, rollback: marking(4) })
  return { folder, ids, sequence_id: await createSequence(api, [prepare, change], 'marks') }
}

/**
 * A killed instance does not tell that the commands of a cancelled deployment are gone, and the lock stays for a minute. Moves the
 * ends of such leases instead of waiting.
 */
async function passMinute(): Promise<void> {
  const client = await connectTo(suite.databaseUrl)
  try {
    await client.query(
      `UPDATE leases SET ended_at = ended_at - interval '1 minute' WHERE end_reason = 'cancelled' AND stopped_at IS NULL`,
    )
  } finally {
    await client.end()
  }
}

/** Runs the deployments of a round and waits for their ends. */
async function play({ deployments, killed }: Round, { folder, ids, sequence_id }: Fleet): Promise<void> {
  const faults =
    killed &&
    delay(killed.afterMs)
      .then(() => suite.kill(killed.service))
      .then(() => suite.start(killed.service))
      .then(() => passMinute())
  await Promise.all(
    deployments.map(async ({ targets, failing, cancelledAfterMs, ...options }) => {
      const { status, body } = await createWithRetries(api, {
        ...options,
        sequence_id,
        target_ids: targets.map((name) => ids[name]),
        max_retries: 2,
        variables: { folder, failing: failing.join(',') },
      })
      expect([201, 202]).toContain(status)
      if (cancelledAfterMs !== null && status === 201) {
        await delay(cancelledAfterMs)
        await api.post(`/deployments/${body.deployment_id}/cancel`, {})
      }
      const id = body.deployment_id ?? (await dispatchedDeployment(api, body.pending_request_id))
      await deploymentEnd(api, id)
    }),
  )
  await faults
}

/** Pairs of deployments that marked the same target at the same time. */
function overlaps(folder: string): object[] {
  const lives = fs.readdirSync(folder).map((file) => {
    const [target, deployment] = file.split('.')
    const times = fs.readFileSync(path.join(folder, file), 'utf8').trim().split('\n').map(BigInt)
    return { target, deployment, from: times[0] as bigint, to: times.at(-1) as bigint }
  })
  return TARGETS.flatMap((name) => {
    const ordered = lives.filter(({ target }) => target === name).sort((x, y) => (x.from < y.from ? -1 : 1))
    let last = ordered[0]
    return ordered.slice(1).flatMap((life) => {
      const before = last
      if (before === undefined || life.to > before.to) last = life
      if (before === undefined || before.to < life.from) return []
      return [{ target: name, first: before.deployment, second: life.deployment, ns: String(before.to - life.from) }]
    })
  })
}

test('two deployments never work on a target at the same time, although services are killed', async () => {
  const fleet = await createFleet()
  const seed = Date.now() % 2 ** 31
  for (const [number, played] of fc.sample(round, { numRuns: ROUNDS, seed }).entries()) {
    await play(played, fleet)
    expect({ seed, number, played, overlaps: overlaps(fleet.folder) }).toMatchObject({ overlaps: [] })
  }
  expect(fs.readdirSync(fleet.folder).length).toBeGreaterThan(ROUNDS)
  expect(await violatedInvariants(suite.databaseUrl)).toEqual([])
})
