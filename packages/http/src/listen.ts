import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ListenAddress, listenOn } from '@slipway/runtime'
import { limitArrivalTime } from './arrival.ts'
import { createTlsServer, type TlsOptions } from './tls-server.ts'

interface ListenOptions extends ListenAddress {
  /** Aborts when the service begins to stop. Then each answer closes its connection, and clients use another replica. */
  stopping?: AbortSignal
  /** Serves HTTPS with this certificate; without it, plain HTTP. */
  tls?: TlsOptions
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
const SERVER_OPTIONS = {
  noDelay: true,
  keepAliveTimeout: IDLE_MS,
  // This is also Node's limit for a connection that has not carried a request. A client that gave up a call while it connected
  // keeps such a connection as long as any other.
  headersTimeout: IDLE_MS,
  // `limitArrivalTime` limits the whole request instead, with more time for uploads.
  requestTimeout: 0,
}

/**
 * Serves HTTP or HTTPS. Closes connections on which a request takes too long to arrive.
 * @throws ConfigurationError when the port, the certificate or its key cannot be used
 */
export async function listen(
  app: RequestListener,
  { host, port, variable, stopping, tls }: ListenOptions,
): Promise<ListeningServer> {
  const { server, release } = tls
    ? createTlsServer(app, SERVER_OPTIONS, tls)
    : { server: createServer(SERVER_OPTIONS, app), release: () => {} }
  server.on('clientError', refuseMalformed)
  server.prependListener('request', (request, response) => limitArrivalTime(request, () => refuseLate(response)))
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

/** After stopping begins, each answer closes its connection. */
function endConnectionsOf(server: Server, stopping: AbortSignal): void {
  server.prependListener('request', (_request, response) => {
    if (stopping.aborted) response.setHeader('Connection', 'close')
  })
}

const REFUSALS: Record<string, { status: string; code: string; message: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'VALIDATION_ERROR',
    message: 'The headers of the request are too large',
  },
  // Node reports late headers, `refuseLate` a late body.
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    code: 'INVALID_BODY',
    message: 'The request did not arrive in time',
  },
}

/** Answers 408, or closes the connection if an answer has begun. */
function refuseLate({ headersSent, socket }: ServerResponse): void {
  if (headersSent) socket?.destroy()
  else if (socket !== null) refuseMalformed(Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
}

/** Answers malformed HTTP in the form of other errors. Such a request does not reach the application. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, code, message } = REFUSALS[error.code ?? ''] ?? {
    status: '400 Bad Request',
    code: 'VALIDATION_ERROR',
    message: 'The request is not valid HTTP',
  }
  const body = JSON.stringify({ error: { code, message } })
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
