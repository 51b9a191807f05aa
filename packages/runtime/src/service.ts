import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Static, type TObject, Type } from '@sinclair/typebox'
import { sleep } from './backoff.ts'
import { ConfigurationError, loadConfig } from './config.ts'
import { refuseDevelopmentSecrets } from './development.ts'
import { Health, startManagementServer } from './health.ts'
import { createLogger, type Logger } from './logger.ts'
import { describeProcess } from './metrics/registry.ts'
import { StopSequence } from './stopping.ts'
import { processConfig } from './variables.ts'
import { SLIPWAY_VERSION } from './version.ts'

/** sysexits' EX_CONFIG: a supervisor can tell "will never start like this" from a crash. */
const EXIT_CONFIGURATION = 78
const STOP_MS = 20_000
/** A service that waits for its servers has nothing in hand, and its connections to them may not even end. */
const STOP_WAITING_MS = 1_000
/** A collector that is away holds nobody up for longer. */
const LAST_SPANS_MS = 3_000
/** Ctrl-C reaches a whole process group and a supervisor then signals again: that is one request, not two. */
const SAME_REQUEST_MS = 500

type ProcessConfig = Static<TObject<typeof processConfig>>

/** All that a service reads from its environment: its own variables, and those that every process has. */
export const serviceConfig = <T extends TObject>(own: T): T =>
  Type.Object({ ...own.properties, ...processConfig }) as TObject as T

export interface ServiceContext<Config> {
  name: string
  config: Config
  logger: Logger
  health: Health
  /** Aborted when stopping begins. */
  signal: AbortSignal
  /** Registers a step of stopping; the last registered runs first. It may take `timeoutMs` (10 s unless given). */
  onStop(name: string, fn: () => unknown, options?: { timeoutMs?: number }): void
  /** Logs and ends the process with 1: for a state that only a restart can mend. */
  fatal(error: unknown): void
}

export interface ServiceOptions<T extends TObject> {
  name: string
  config: T
  /**
   * Connects and wires; the service counts as ready when it has resolved. It waits for servers that are away for as long as
   * that takes.
   */
  start(ctx: ServiceContext<Static<T>>): Promise<void>
}

/**
 * The main function of a service: configuration, logger, management server, start, and a stop in order.
 * A wrong configuration ends with 78 and a plain message. SIGTERM or SIGINT: not ready first, then SLIPWAY_DRAIN_SECONDS in
 * which it serves on, then the steps of stopping, 20 s in all, then exit 0; a second signal exits at once. A service that has
 * not started yet stops within 1 s.
 */
export async function runService<T extends TObject>(options: ServiceOptions<T>): Promise<void> {
  const config = configurationOrExit(serviceConfig(options.config))
  const settings = config as unknown as ProcessConfig
  const logger = createLogger({ service: options.name, level: settings.SLIPWAY_LOG_LEVEL })
  if (settings.SLIPWAY_DEVELOPMENT) {
    logger.warn('SLIPWAY_DEVELOPMENT is true: secrets that everybody knows are accepted. Do not set it in production')
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
      if (Date.now() - stoppingSince < SAME_REQUEST_MS) return
      logger.warn('second signal, leaving at once', { signal })
      return void exit(1)
    }
    stoppingSince = Date.now()
    logger.info('stopping', { signal })
    health.setServing(false)
    abort.abort()
    const leave = async () => {
      // Whoever sends us requests sees "not ready" first; until then an ear that is closed would look like a failure.
      if (served) await sleep(settings.SLIPWAY_DRAIN_SECONDS * 1_000)
      await stopping.run(served ? STOP_MS : STOP_WAITING_MS)
    }
    leave().then(() => {
      logger.info('stopped', { took_ms: Date.now() - stoppingSince })
      return exit(0)
    }, fatal)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.on('uncaughtException', fatal)
  process.on('unhandledRejection', fatal)
  // A reader of our output that went away is no reason to die.
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
    // A start that was interrupted by a stop may fail for that very reason.
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
  // Registered first, so it is closed last: whoever watches sees "not ready" until the end.
  stopping.add('management server', () => server.close())
}

async function sendTraces(
  service: string,
  { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers }: ProcessConfig,
  stopping: StopSequence,
  logger: Logger,
): Promise<void> {
  if (endpoint === undefined) return
  // Loaded only where it is wanted: it is large.
  const { exportSpans } = await import('./tracing/otlp.ts')
  stopping.add('traces', exportSpans({ service, endpoint, headers, logger }), LAST_SPANS_MS)
}
