import { createServer } from 'node:http'
import { listenOn } from './listen.ts'
import { exposition } from './metrics/registry.ts'
import { withTimeout } from './timing.ts'

export interface HealthReport {
  ready: boolean
  dependencies: Record<string, 'up' | 'down'>
}

type Check = () => boolean | Promise<boolean>

/** The timeout of each check, so that a report takes less than 1 s. */
const CHECK_MS = 900

/** The state of the dependencies of a service, and its readiness. */
export class Health {
  readonly #checks = new Map<string, Check>()
  readonly #optional = new Set<string>()
  #serving = false
  #pending: Promise<HealthReport> | undefined

  /** Adds a dependency. True means up. An error, or no answer within 0.9 s, means down. */
  check(name: string, fn: Check): void {
    this.#checks.set(name, fn)
  }

  /** Adds a dependency that is shown. The service is ready without it: with it, one dead server would take all replicas away. */
  show(name: string, fn: Check): void {
    this.check(name, fn)
    this.#optional.add(name)
  }

  /** Sets whether the service has started and is not stopping. The initial value is false. */
  setServing(serving: boolean): void {
    this.#serving = serving
  }

  /** Runs all checks in parallel. Concurrent callers share one run. */
  async report(): Promise<HealthReport> {
    this.#pending ??= this.#run().finally(() => {
      this.#pending = undefined
    })
    const { dependencies, ready } = await this.#pending
    return { ready: ready && this.#serving, dependencies }
  }

  async #run(): Promise<HealthReport> {
    const results = await Promise.all(
      [...this.#checks].map(async ([name, fn]) => [name, (await passes(fn)) ? 'up' : 'down'] as const),
    )
    return {
      ready: results.every(([name, state]) => state === 'up' || this.#optional.has(name)),
      dependencies: Object.fromEntries(results),
    }
  }
}

async function passes(fn: Check): Promise<boolean> {
  try {
    return (await withTimeout(CHECK_MS, Promise.resolve().then(fn))) === true
  } catch {
    return false
  }
}

interface ManagementServer {
  port: number
  close(): Promise<void>
}

const PATHS = new Set(['/livez', '/readyz', '/metrics'])

/** Serves GET /livez (200 while the process runs), /readyz (200 or 503, with the report) and /metrics (Prometheus). */
export async function startManagementServer(options: {
  health: Health
  port: number
  host: string
}): Promise<ManagementServer> {
  const server = createServer((request, response) => {
    const send = (status: number, type: string, text: string) => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
      response.end(request.method === 'HEAD' ? undefined : text)
    }
    const answer = (status: number, body: unknown) => send(status, 'application/json', `${JSON.stringify(body)}\n`)
    const path = (request.url ?? '').split('?', 1)[0]
    if (!PATHS.has(path ?? ''))
      return answer(404, { message: `There is no such path. Use one of ${[...PATHS].join(', ')}` })
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(405, { message: 'Use GET' })
    if (path === '/livez') return answer(200, { alive: true })
    if (path === '/metrics') {
      exposition().then(
        ({ type, text }) => send(200, type, text),
        () => answer(500, { message: 'The metrics cannot be collected' }),
      )
      return
    }
    options.health.report().then(
      (report) => answer(report.ready ? 200 : 503, report),
      () => answer(503, { ready: false, dependencies: {} }),
    )
  })
  const { port, host } = options
  return {
    port: await listenOn(server, { port, host, variable: 'SLIPWAY_MANAGEMENT_PORT' }),
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
