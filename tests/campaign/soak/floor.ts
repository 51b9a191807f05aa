const RECORDS = Array.from({ length: 1_000 }, (_, n) => ({ id: n, name: `record ${n}`, labels: ['a', 'b'], at: null }))
const REPETITIONS = 15

/**
 * Does some 20 ms of work that is always the same, and returns the milliseconds of CPU time that it took. They change with the speed of
 * the machine, for example when others use its cores, and not with the product.
 */
export function measureFloor(): number {
  const before = process.cpuUsage()
  for (let n = 0; n < REPETITIONS; n += 1) JSON.parse(JSON.stringify(RECORDS))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
