/** `SLOW=3` is for a slow machine: it stretches the bounds of all tests and of all waits. */
export const SLOW = Number(process.env['SLOW'] ?? 1)

/** How long a test waits for a condition, in milliseconds. The bound of a test is in jest.config.mjs. */
export const WAIT_MS = 10_000 * SLOW
