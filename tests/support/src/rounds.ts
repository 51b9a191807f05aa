/** Whether this is the part of `make test-all` with many rounds. */
export const isLongRun = process.env['SLIPWAY_TEST_LONG'] === '1'

/** How often a test with random input runs: a few times in each `make test`, many times in `make test-all`. */
export const roundsOf = (few: number, many: number): number => (isLongRun ? many : few)
