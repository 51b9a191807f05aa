import { startSharedSuite } from '@slipway/testing'

/** Jest calls this once, before its workers start, if a file of tests/golden runs. */
export default async function startSuite() {
  globalThis.sharedSuite = await startSharedSuite()
}
