import { cpuSeconds } from './cpu.mjs'
import { settle } from './instance.mjs'
import { figure, plain } from './report.mjs'
import { interleave } from './rounds.mjs'

const SERVICES = ['gateway', 'planner', 'dispatcher', 'executor-bridge', 'log-stream']
const SHORT_MS = 20

/** Goals 18 and 23: the CPU time of a start, and how long after kill -9 of a service a create succeeds again. */
export async function measureStart({ suite, database, api, instance, body, rounds }) {
  const seconds = Object.fromEntries(SERVICES.map((name) => [name, []]))
  const recoveries = await interleave(
    Object.fromEntries(
      SERVICES.map((name) => [
        name,
        async () => {
          await suite.kill(name)
          const began = performance.now()
          const ready = suite.start(name)
          while (!(await creates())) await new Promise((resolve) => setTimeout(resolve, SHORT_MS))
          const took = performance.now() - began
          await ready
          seconds[name].push(cpuSeconds([suite.pid(name)]))
          await settle({ instance, database })
          return took
        },
      ]),
    ),
    rounds,
  )
  async function creates() {
    const { status } = await api.post('/deployments', body).catch(() => ({ status: 0 }))
    return status === 201
  }
  // The first round is thrown away, as that of `interleave`.
  const measured = SERVICES.map((name) => seconds[name].slice(1))
  const together = measured[0].map((_, round) => measured.reduce((sum, of) => sum + of[round], 0))
  return [
    ...SERVICES.map((name, index) => plain(18, `CPU of a start of the ${name}, s`, measured[index], '≤ 0.6')),
    figure('CPU of a start of all five services, s', together),
    ...SERVICES.map((name) =>
      plain(
        23,
        `kill -9 of the ${name} until a create succeeds, s`,
        recoveries[name].map((ms) => ms / 1_000),
        '≤ 3',
      ),
    ),
  ]
}
