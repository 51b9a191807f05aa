import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerOptions } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { ConfigurationError } from './config.ts'
import { measureRequest } from './metrics/http.ts'
import { createTlsServer, type TlsOptions } from './tls/server.ts'
import { failSpan, SpanKind, traced } from './tracing/spans.ts'

export interface ListenAddress {
  host: string
  port: number
  /** The variable that sets the port, for the error if the port is not available. */
  variable: string
}

interface ListenOptions extends ListenAddress {
  /** Aborts when the service begins to stop. Then each answer closes its connection, and clients use another replica. */
  stopping?: AbortSignal
  /** Options in addition to the timeouts that every server of Slipway has. */
  server?: ServerOptions
  /** Serves HTTPS with this certificate; without it, plain HTTP. */
  tls?: TlsOptions
  /** False if the application measures and traces its requests by itself. */
  observed?: boolean
  /** Called with the server before the first connection, to add listeners. */
  prepare?(server: Server): void
}

export interface ListeningServer {
  port: number
  server: Server
  /** Accepts no new requests, and resolves when all current requests are answered. */
  close(): Promise<void>
}

const IDLE_SWEEP_MS = 50
/**
 * How long a connection may be idle, in milliseconds. Callers close theirs earlier: load balancers after 60 s, others one second
 * before the time that answers name. If the server closed first, a call sent at that moment would fail.
 */
const IDLE_MS = 65_000
const TIMEOUTS = {
  keepAliveTimeout: IDLE_MS,
  // This is also Node's limit for a connection that has not carried a request. A client that gave up a call while it connected
  // keeps such a connection as long as any other.
  headersTimeout: IDLE_MS,
  // Node requires at least `headersTimeout`.
  requestTimeout: IDLE_MS,
}

/**
 * Serves HTTP or HTTPS with timeouts for slow clients.
 * @throws ConfigurationError when the port, the certificate or its key cannot be used
 */
export async function listen(
  app: RequestListener,
  { host, port, variable, stopping, server: options, tls, observed = true, prepare }: ListenOptions,
): Promise<ListeningServer> {
  const serverOptions = { ...TIMEOUTS, noDelay: true, ...options }
  const listener = observed ? observe(app) : app
  const { server, release } = tls
    ? createTlsServer(listener, serverOptions, tls)
    : { server: createServer(serverOptions, listener), release: () => {} }
  prepare?.(server)
  if (stopping) endConnectionsOf(server, stopping)
  return {
    server,
    port: await listenOn(server, { host, port, variable }),
    close: () =>
      new Promise((resolve) => {
        release()
        // An idle connection would delay the stop.
        const idle = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS)
        server.close(() => {
          clearInterval(idle)
          resolve()
        })
      }),
  }
}

/**
 * Makes a server listen, and returns its port.
 * @throws ConfigurationError when the port is not available
 */
export function listenOn(server: NetServer, { host, port, variable }: ListenAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const where = `${host}:${port}`
      const problem =
        error.code === 'EADDRINUSE'
          ? `names ${where}, which is in use: choose another port`
          : `gives ${where}: ${error.message}`
      reject(new ConfigurationError([{ variable, problem }]))
    })
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })
}

/** Express stores the route of a request here. */
type Routed = IncomingMessage & { route?: { path?: unknown } }

/** Turns `/v1/runs/:id` into `/v1/runs/{id}`, the form of all services. */
function routeOf({ route }: Routed): string | null {
  return typeof route?.path === 'string' ? route.path.replace(/:(\w+)/g, '{$1}') : null
}

/** Measures each request. Adds a span if the caller sent a `traceparent`. */
function observe(app: RequestListener): RequestListener {
  return (request, response) => {
    measureRequest(request, response, () => routeOf(request))
    const { traceparent = null } = request.headers
    const method = request.method ?? ''
    void traced(method, { kind: SpanKind.SERVER, parent: String(traceparent) }, async (span) => {
      app(request, response)
      await new Promise((resolve) => response.once('close', resolve))
      const { statusCode } = response
      span.updateName(`${method} ${routeOf(request) ?? ''}`.trim())
      span.setAttributes({ 'http.request.method': method, 'http.response.status_code': statusCode })
      if (statusCode >= 500) failSpan(span, String(statusCode))
    })
  }
}

/** After stopping begins, each answer closes its connection. */
function endConnectionsOf(server: Server, stopping: AbortSignal): void {
  server.prependListener('request', (_request, response) => {
    if (stopping.aborted) response.setHeader('Connection', 'close')
  })
}
