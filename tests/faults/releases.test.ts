// Compares the releases in force with the markers that the commands leave on the targets.
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  createLocalTarget,
  createSequence,
  createWithRetries,
  deploymentEnd,
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

const ROUNDS = 6
const SOURCES = ['shop', 'search']
const TARGET_COUNT = 6
const TARGETS = Array.from({ length: TARGET_COUNT }, (_, number) => `target-${number}`)
const PAGE = 100
const KILLED = ['orchestration-instance', 'executor-bridge', 'dispatcher'] satisfies ServiceName[]

/** `current.SOURCE.TARGET` holds the id of the deployment that switched the target last. */
const place = (source: string) => `"$SLIPWAY_VAR_FOLDER/current.${source}.$SLIPWAY_TARGET_NAME"`

/** Saves the former marker, then replaces it atomically. A retry keeps the copy of the first attempt. */
const switching = (source: string) => `
case ",$SLIPWAY_VAR_FAILING," in *",$SLIPWAY_TARGET_NAME,"*) exit 1;; esac
kept=${place(source)}.before."$SLIPWAY_DEPLOYMENT_ID"
[ -e "$kept" ] || { cat ${place(source)} 2>/dev/null || :; } > "$kept"
sleep 0.2
echo "$SLIPWAY_DEPLOYMENT_ID" > ${place(source)}.next
mv ${place(source)}.next ${place(source)}`

const restoring = (source: string) => `
[ "$(cat ${place(source)} 2>/dev/null)" = "$SLIPWAY_DEPLOYMENT_ID" ] || exit 0
cp ${place(source)}.before."$SLIPWAY_DEPLOYMENT_ID" ${place(source)}.next
mv ${place(source)}.next ${place(source)}`

const deployment = fc.record({
  targets: fc.shuffledSubarray(TARGETS, { minLength: 1, maxLength: TARGET_COUNT }),
  /** Indexes into `targets`. */
  failing: fc.oneof({ weight: 2, arbitrary: fc.constant<number[]>([]) }, fc.uniqueArray(fc.nat(TARGET_COUNT - 1))),
  target_mode: fc.constantFrom('sequential' as const, 'parallel' as const, { rolling: { batch_size: 2 } }),
  failure_strategy: fc.constantFrom('stop_on_first_failure' as const, 'continue_on_failure' as const),
  rollback_strategy: fc.constantFrom('none' as const, 'failed_target_only' as const, 'all_executed' as const),
  cancelledAfterMs: fc.option(fc.integer({ min: 100, max: 1_500 }), { freq: 4 }),
})
const round = fc.record({
  deployments: fc.array(deployment, { minLength: SOURCES.length, maxLength: SOURCES.length }),
  killed: fc.option(fc.record({ service: fc.constantFrom(...KILLED), afterMs: fc.integer({ min: 50, max: 1_200 }) })),
})
type Round = typeof round extends fc.Arbitrary<infer R> ? R : never

interface Fleet {
  folder: string
  ids: Record<string, string>
  sources: Record<string, string>
}

async function createFleet(): Promise<Fleet> {
  const folder = fs.mkdtempSync(path.join(suite.folder, 'targets-'))
  const ids: Record<string, string> = {}
  for (const name of TARGETS) ids[name] = await createLocalTarget(api, { name })
  const sources: Record<string, string> = {}
  for (const source of SOURCES) {
    const prepare = await createAction(api, { script: 'sleep 0.1' })
    const change = await createAction(api, { script: switching(source), rollback: restoring(source) })
    sources[source] = await createSequence(api, [prepare, change], source)
  }
  return { folder, ids, sources }
}

/** Runs the deployments of a round, one for each source, and waits for their ends. */
async function play({ deployments, killed }: Round, { folder, ids, sources }: Fleet): Promise<void> {
  const faults =
    killed &&
    delay(killed.afterMs)
      .then(() => suite.kill(killed.service))
      .then(() => suite.start(killed.service))
  await Promise.all(
    deployments.map(async ({ targets, failing, cancelledAfterMs, ...options }, index) => {
      const { status, body } = await createWithRetries(api, {
        ...options,
        sequence_id: sources[SOURCES[index] as string],
        target_ids: targets.map((name) => ids[name]),
        max_retries: 2,
        variables: { folder, failing: failing.map((place) => targets[place]).join(',') },
      })
      expect([201, 202]).toContain(status)
      const id = body.deployment_id ?? body.pending_request_id
      if (cancelledAfterMs !== null && status === 201) {
        await delay(cancelledAfterMs)
        // The deployment may have ended, or the dispatcher may be down, so the answer does not matter.
        await api.post(`/deployments/${id}/cancel`, {})
      }
      await deploymentEnd(api, id)
    }),
  )
  await faults
}

interface Cell {
  target_name: string
  source_name: string
  deployment_id: string | null
}

/** The deployments in force, by source and target. */
async function readReleases(): Promise<Map<string, string | null>> {
  const releases = new Map<string, string | null>()
  for (let page = 1; ; page += 1) {
    const { body } = await api.get<{ data: Cell[] }>(`/releases?limit=${PAGE}&page=${page}`)
    for (const { source_name, target_name, deployment_id } of body.data) {
      releases.set(`${source_name} ${target_name}`, deployment_id)
    }
    if (body.data.length < PAGE) return releases
  }
}

/** The cells of source and target in which Slipway and the marker differ. */
async function differences({ folder, ids }: Fleet): Promise<object[]> {
  const releases = await readReleases()
  const cells = SOURCES.flatMap((source) => TARGETS.map((target) => ({ source, target })))
  const compared = cells.map(async ({ source, target }) => {
    const file = path.join(folder, `current.${source}.${target}`)
    const marker = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim() || null : null
    const told = releases.get(`${source} ${target}`) ?? null
    if (marker === told) return []
    const state = await stateOn(ids[target] as string, marker)
    // A command that was killed after its switch has switched the target, and Slipway cannot know that.
    return state === 'cancelled' || state === 'failed' ? [] : [{ source, target, marker, state, told }]
  })
  return (await Promise.all(compared)).flat()
}

/** The state of the release of a deployment on a target. */
async function stateOn(target: string, deployment: string | null): Promise<string | undefined> {
  const { body } = await api.get<{ data: { deployment_id: string; state: string }[] }>(
    `/targets/${target}/releases?limit=100`,
  )
  return body.data.find(({ deployment_id }) => deployment_id === deployment)?.state
}

test('releases in force match the markers on the targets after failures, rollbacks, cancels and kills', async () => {
  const fleet = await createFleet()
  const seed = Date.now() % 2 ** 31
  for (const [number, played] of fc.sample(round, { numRuns: ROUNDS, seed }).entries()) {
    await play(played, fleet)
    expect({ seed, number, played, differences: await differences(fleet) }).toMatchObject({ differences: [] })
  }
  expect(await violatedInvariants(suite.databaseUrl)).toEqual([])
})
