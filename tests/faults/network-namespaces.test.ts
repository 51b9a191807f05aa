import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { networksProblem } from '@slipway/testing'
import { CutOffSuite } from './cut-off.ts'

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
