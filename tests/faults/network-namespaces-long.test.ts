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

    test('an instance that is cut off for 20 s loses no line and no deployment', async () => {
      await suite.cutOff(20)
    }, 360_000)

    test('an instance that is cut off for 60 s kills its commands before another one repeats them', async () => {
      const tries = await suite.cutOff(60)
      // Its leases were lost, so its commands were retried.
      expect(tries.filter((count) => count > 1).length).toBeGreaterThan(0)
    }, 600_000)
  },
)
