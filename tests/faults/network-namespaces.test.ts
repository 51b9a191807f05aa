import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  type Api,
  completeLines,
  connectTo,
  createAction,
  createLocalTargets,
  createNetworks,
  deploymentEnd,
  dispatchedDeployment,
  logHistory,
  loginToSuite,
  type Network,
  networksProblem,
  type Suite,
  startSuite,
  violatedInvariants,
  waitFor,
} from '@slipway/testing'

const INSTANCES = 3
const SLOTS = 2
const TICKS_PER_SECOND = 5
/** Longer than a cut, the loss of a lease and two commands after each other. */
const END_MS = 240_000

interface Journey {
  id: string
  /** The number of the attempt, once for each tick. The command itself writes it. */
  ticks(): number[]
}

/** Two bridges and three instances. Each instance is in a network namespace without inbound connections. */
class CutOffSuite {
  readonly suite: Suite
  readonly networks: Network[]
  readonly #api: Api
  #journals = 0

  private constructor(suite: Suite, networks: Network[], api: Api) {
    this.suite = suite
    this.networks = networks
    this.#api = api
  }

  static async start(): Promise<CutOffSuite> {
    const networks = createNetworks(INSTANCES)
    try {
      const suite = await startSuite({ networks, secondReplicas: true, capacity: SLOTS })
      return new CutOffSuite(suite, networks, await loginToSuite(suite))
    } catch (error) {
      for (const network of networks) network.remove()
      throw error
    }
  }

  async stop(): Promise<void> {
    for (const network of this.networks) network.restore()
    try {
      await this.suite.stop()
    } finally {
      for (const network of this.networks) network.remove()
    }
  }

  /** Creates `count` deployments at once, each with one command of `seconds`. */
  async deploy(count: number, seconds: number): Promise<Journey[]> {
    const script = [
      `for tick in $(seq ${seconds * TICKS_PER_SECOND}); do`,
      '  echo "$SLIPWAY_ATTEMPT" >> "$SLIPWAY_VAR_JOURNAL"; echo "tick $tick"',
      `  sleep ${1 / TICKS_PER_SECOND}`,
      'done',
    ].join('\n')
    const action_id = await createAction(this.#api, { script })
    const targets = await createLocalTargets(this.#api, count)
    return Promise.all(
      targets.map(async (target) => {
        this.#journals += 1
        const file = path.join(this.suite.folder, `ticks-${this.#journals}`)
        const { status, body } = await this.#api.post('/deployments', {
          action_id,
          target_ids: [target],
          max_retries: 4,
          variables: { journal: file },
        })
        expect([201, 202]).toContain(status)
        const ticks = () => completeLines(file).map(Number)
        const id =
          status === 201 ? body.deployment_id : await dispatchedDeployment(this.#api, body.pending_request_id, END_MS)
        return { id, ticks }
      }),
    )
  }

  /** The number of instances that have a live lease. */
  async busyInstances(): Promise<number> {
    const database = await connectTo(this.suite.databaseUrl)
    try {
      const { rows } = await database.query('SELECT DISTINCT instance_id FROM leases WHERE ended_at IS NULL')
      return rows.length
    } finally {
      await database.end()
    }
  }

  /** Expects that instances listen only on their management port, and connect only to a bridge. */
  expectNoWayIn(): void {
    const bridges = [this.suite.bridgeUrl, this.suite.secondBridgeUrl].map((url) => new URL(url).port)
    for (const { address, hostAddress, listening, connections } of this.networks) {
      const [management = ''] = listening()
      expect(listening()).toEqual([expect.stringMatching(new RegExp(`^${address}:\\d+$`))])
      const outbound = connections().filter(({ local }) => local !== management)
      expect(outbound.length).toBeGreaterThan(0)
      const elsewhere = outbound.filter(
        ({ local, remote }) =>
          !local.startsWith(`${address}:`) || !bridges.some((port) => remote === `${hostAddress}:${port}`),
      )
      expect(elsewhere).toEqual([])
    }
  }

  /**
   * Cuts one instance off for `seconds` while all instances are busy and requests wait. Expects that each deployment
   * succeeds and no two attempts of a command overlap. Returns the number of attempts of each deployment.
   */
  async cutOff(seconds: number): Promise<number[]> {
    // Two more than there are slots.
    const journeys = this.deploy(INSTANCES * SLOTS + 2, seconds + 5)
    await waitFor(async () => (await this.busyInstances()) === INSTANCES, {
      what: 'each instance to run something',
    })
    this.expectNoWayIn()
    const [network] = this.networks
    network?.cut()
    await sleep(seconds * 1_000)
    network?.restore()
    const tries: number[] = []
    for (const { id, ticks } of await journeys) {
      const end = await deploymentEnd(this.#api, id, END_MS)
      expect(end.state).toBe('success')
      // All ticks of an earlier attempt come before those of a later one.
      expect(ticks()).toEqual([...ticks()].sort((a, b) => a - b))
      const last = ticks().at(-1) ?? -1
      expect(ticks().filter((attempt) => attempt === last)).toHaveLength((seconds + 5) * TICKS_PER_SECOND)
      tries.push(new Set(ticks()).size)
      const lines = await logHistory(this.#api, id)
      expect(lines.map(({ metadata }) => metadata.seq)).toEqual(lines.map((_, index) => index))
    }
    await waitFor(() => this.suite.isReady('orchestration-instance'), {
      what: 'the instance to be back',
    })
    this.expectNoWayIn()
    expect(await violatedInvariants(this.suite.databaseUrl)).toEqual([])
    return tries
  }
}

const problem = networksProblem()
const inNetworks = problem === null ? describe : describe.skip

inNetworks(
  `instances in networks without inbound connections${problem === null ? '' : ` (skipped: ${problem})`}`,
  () => {
    let suite: CutOffSuite

    beforeAll(async () => {
      suite = await CutOffSuite.start()
    })
    afterAll(() => suite?.stop())

    test('run deployments with outbound connections only', async () => {
      const journeys = await suite.deploy(6, 4)
      expect(await suite.busyInstances()).toBe(3)
      suite.expectNoWayIn()
      for (const { ticks } of journeys) expect(ticks().every((attempt) => attempt === 1)).toBe(true)
    })

    test('an instance that is cut off for 5 s continues its commands', async () => {
      const tries = await suite.cutOff(5)
      expect(tries).toEqual(tries.map(() => 1))
    })

    test('an instance that is cut off for 40 s kills its commands before another one repeats them', async () => {
      const tries = await suite.cutOff(40)
      // Its leases were lost, so its commands were retried.
      expect(tries.filter((count) => count > 1).length).toBeGreaterThan(0)
    })
  },
)
