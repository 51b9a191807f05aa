// What a start prints: a sentence for each part, and never nothing for 5 s.
const QUIET_MS = 4_000
const SHORT_MS = 1_000

export const say = (line) => console.log(`slipway: ${line}`)

/** Waits for a part of a start or a stop, and says how long it takes: every 4 s, and at its end if it is not short. Returns its result. */
export async function phase(name, work) {
  const started = Date.now()
  const seconds = (digits) => ((Date.now() - started) / 1_000).toFixed(digits)
  const ticker = setInterval(() => say(`${name} … ${seconds(0)} s`), QUIET_MS)
  try {
    const result = await work
    if (Date.now() - started >= SHORT_MS) say(`${name}: ${seconds(1)} s`)
    return result
  } finally {
    clearInterval(ticker)
  }
}
