/** `SLOW=3` is for a slow machine: it stretches the bounds of all tests and of all waits. */
export const SLOW = Number(process.env['SLOW'] ?? 1)

/** How long a test waits for a condition, in milliseconds. The bound of a test is in jest.config.mjs. */
export const WAIT_MS = 10_000 * SLOW

/** Whether this is the part of `make test-all` with many rounds. */
export const isLongRun = process.env['SLIPWAY_TEST_LONG'] === '1'

/** How often a test with random input runs: a few times in each `make test`, many times in `make test-all`. */
export const roundsOf = (few: number, many: number): number => (isLongRun ? many : few)
