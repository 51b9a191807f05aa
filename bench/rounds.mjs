// Rounds of a product and its floors, one after the other, so that whatever else the machine does hits all of them alike.

/** Runs `contenders` ({ name: async () => number }) in turn, `rounds` times after one that is thrown away; the figures of each. */
export async function interleave(contenders, rounds) {
  const names = Object.keys(contenders)
  const figures = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of names) {
      const figure = await contenders[name]()
      if (round > 0) figures[name].push(figure)
    }
  }
  return figures
}

const sorted = (values) => [...values].sort((a, b) => a - b)
export const quantile = (values, q) => sorted(values)[Math.min(values.length - 1, Math.floor(values.length * q))]
export const median = (values) => quantile(values, 0.5)

/** The median of the ratios of each round, and the smallest and largest. */
export function ratio(above, below) {
  const ratios = above.map((value, round) => value / below[round])
  return { median: median(ratios), from: Math.min(...ratios), to: Math.max(...ratios) }
}
