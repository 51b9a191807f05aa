import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Static, type TObject, Type } from '@sinclair/typebox'
import { ConfigurationError, loadConfig } from './config.ts'
import { refuseDevelopmentSecrets } from './development.ts'
import { Health, startManagementServer } from './health.ts'
import { createLogger, type Logger } from './logger.ts'
import { describeProcess } from './metrics/registry.ts'
import { StopSequence } from './stopping.ts'
import { sleep } from './timing.ts'
import { processConfig } from './variables.ts'
import { SLIPWAY_VERSION } from './version.ts'

/** EX_CONFIG of sysexits. A supervisor can distinguish a wrong configuration from a crash. */
const EXIT_CONFIGURATION = 78
const STOP_MS = 20_000
/** The stop timeout of a service that has not started yet. Its connections to missing servers may never end. */
const STOP_WAITING_MS = 1_000
/** How long a stop waits for the trace collector. */
const LAST_SPANS_MS = 3_000
/** Two signals within this time count as one: Ctrl-C signals the process group, and then the supervisor signals again. */
const SAME_REQUEST_MS = 500

type ProcessConfig = Static<TObject<typeof processConfig>>

/** The schema of a service with its own variables and those of every process. */
export const serviceConfig = <T extends TObject>(own: T): T =>
  Type.Object({ ...own.properties, ...processConfig }) as TObject as T

export interface ServiceContext<Config> {
  name: string
  config: Config
  logger: Logger
  health: Health
  /** Aborts when the service begins to stop. */
  signal: AbortSignal
  /** Registers a stop step. The last registered step runs first. The default timeout is 10 s. */
  onStop(name: string, fn: () => unknown, options?: { timeoutMs?: number }): void
  /** Logs the error and exits with 1. Use it if only a restart can help. */
  fatal(error: unknown): void
}

interface ServiceOptions<T extends TObject> {
  name: string
  config: T
  /** Connects and starts the service. The service is ready when this resolves. Waits without limit for missing servers. */
  start(ctx: ServiceContext<Static<T>>): Promise<void>
}

/**
 * The main function of a service: configuration, logger, management server, start and ordered stop.
 * A wrong configuration exits with 78 and a plain message. After SIGTERM or SIGINT the service reports "not ready", serves for
 * another SLIPWAY_DRAIN_SECONDS, runs the stop steps (20 s in all) and exits with 0. A second signal exits at once. A service
 * that has not started yet stops within 1 s.
 */
export async function runService<T extends TObject>(options: ServiceOptions<T>): Promise<void> {
  const config = configurationOrExit(serviceConfig(options.config))
  const settings = config as unknown as ProcessConfig
  const logger = createLogger({ service: options.name, level: settings.SLIPWAY_LOG_LEVEL })
  if (settings.SLIPWAY_DEVELOPMENT) {
    logger.warn('SLIPWAY_DEVELOPMENT is true: public development secrets are accepted. Do not set it in production')
  }
  const health = new Health()
  const stopping = new StopSequence(logger)
  const abort = new AbortController()

  const exit = async (code: number) => {
    await nextTurn()
    process.exit(code)
  }
  const fatal = (error: unknown) => {
    if (error instanceof ConfigurationError) process.stderr.write(`${options.name}: ${error.message}\n`)
    else logger.error('fatal error, the process ends', { error })
    void exit(error instanceof ConfigurationError ? EXIT_CONFIGURATION : 1)
  }
  let served = false
  let stoppingSince = 0
  const stop = (signal: string) => {
    if (stoppingSince > 0) {
      if (performance.now() - stoppingSince < SAME_REQUEST_MS) return
      logger.warn('second signal: the process exits at once', { signal })
      return void exit(1)
    }
    stoppingSince = performance.now()
    logger.info('stopping', { signal })
    health.setServing(false)
    abort.abort()
    const leave = async () => {
      // The load balancer must see "not ready" before the server stops listening. Otherwise calls fail.
      if (served) await sleep(settings.SLIPWAY_DRAIN_SECONDS * 1_000)
      await stopping.run(served ? STOP_MS : STOP_WAITING_MS)
    }
    leave().then(() => {
      logger.info('stopped', { took_ms: Math.round(performance.now() - stoppingSince) })
      return exit(0)
    }, fatal)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.on('uncaughtException', fatal)
  process.on('unhandledRejection', fatal)
  // A closed pipe on standard output must not end the process.
  process.stdout.on('error', () => {})

  try {
    await serveManagement(options.name, settings, health, stopping, logger)
    await sendTraces(options.name, settings, stopping, logger)
    await options.start({
      name: options.name,
      config,
      logger,
      health,
      signal: abort.signal,
      onStop: (name, fn, limits) => stopping.add(name, fn, limits?.timeoutMs),
      fatal,
    })
  } catch (error) {
    // A start may fail because a stop has interrupted it.
    if (!abort.signal.aborted) fatal(error)
    return
  }
  if (abort.signal.aborted) return
  health.setServing(true)
  served = true
  logger.info('started', { node: process.version, pid: process.pid })
}

function configurationOrExit<T extends TObject>(schema: T): Static<T> {
  try {
    const config = loadConfig(schema)
    const { NODE_ENV, SLIPWAY_DEVELOPMENT } = config as unknown as ProcessConfig
    if (NODE_ENV === 'production' && !SLIPWAY_DEVELOPMENT) refuseDevelopmentSecrets(schema, config)
    return config
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    process.stderr.write(`${error.message}\n`)
    return process.exit(EXIT_CONFIGURATION)
  }
}

async function serveManagement(
  service: string,
  { SLIPWAY_MANAGEMENT_PORT: port, SLIPWAY_MANAGEMENT_HOST: host }: ProcessConfig,
  health: Health,
  stopping: StopSequence,
  logger: Logger,
): Promise<void> {
  if (port === 0) return
  describeProcess({ component: service, version: SLIPWAY_VERSION })
  const server = await startManagementServer({ health, port, host })
  logger.debug('management server listens', { host, port })
  // The first registered step runs last, so probes get "not ready" until the end.
  stopping.add('management server', () => server.close())
}

async function sendTraces(
  service: string,
  { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers }: ProcessConfig,
  stopping: StopSequence,
  logger: Logger,
): Promise<void> {
  if (endpoint === undefined) return
  // Loaded only with an endpoint, because the exporter is large.
  const { exportSpans } = await import('./tracing/otlp.ts')
  stopping.add('traces', exportSpans({ service, endpoint, headers, logger }), LAST_SPANS_MS)
}
