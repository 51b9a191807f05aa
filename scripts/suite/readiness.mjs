// When the suite is ready, and why it is not.
import { find, lastLines, sleep } from './processes.mjs'

const READY_MS = 60_000
const ANSWER_MS = 2_000
const POLL_MS = 200

async function probe(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) })
    const body = (await response.text()).slice(0, 400)
    return { ready: response.status === 200, answer: `${url} answers ${response.status} ${body}` }
  } catch (error) {
    return { ready: false, answer: `${url} does not answer (${error.cause?.code ?? error.name})` }
  }
}

/**
 * Whether one service is ready, as { ready, answer }. An orchestration instance is ready only once it has joined;
 * the gateway is asked as its users ask it, too.
 */
export async function readiness(service) {
  const own = await probe(service.ready ?? `${service.management}/readyz`)
  if (!own.ready || service.name !== 'gateway') return own
  return probe(`${service.url}/api/v1/health/ready`)
}

function report(service, reason, logStart) {
  const lines = lastLines(service.name, logStart).map((line) => `    ${line}`)
  return [`${service.name} ${reason}`, ...lines].join('\n')
}

/**
 * Waits until every service is ready. Throws an Error with the reason as soon as a process has ended, or after 60 s.
 * `logStarts` says where in its log a service's present start begins; `cancelled` ends the waiting.
 */
export async function untilReady(services, logStarts, cancelled = () => false) {
  const deadline = Date.now() + READY_MS
  let waiting = services
  while (!cancelled()) {
    const ended = waiting.filter((service) => find(service.name, service.main) === null)
    if (ended.length > 0) {
      const reports = ended.map((service) => report(service, 'ended while starting:', logStarts.get(service.name)))
      throw new Error(reports.join('\n'))
    }
    const answers = await Promise.all(waiting.map(readiness))
    const late = Date.now() > deadline
    if (late) {
      const reports = waiting.flatMap((service, n) =>
        answers[n].ready
          ? []
          : [report(service, `is not ready after 60 s: ${answers[n].answer}`, logStarts.get(service.name))],
      )
      if (reports.length > 0) throw new Error(reports.join('\n'))
    }
    waiting = waiting.filter((_, n) => !answers[n].ready)
    if (waiting.length === 0) return
    await sleep(POLL_MS)
  }
}
