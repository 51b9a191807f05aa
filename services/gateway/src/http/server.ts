import { createServer, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { ConfigurationError, endConnectionsOf } from '@slipway/runtime'
import type { Express } from 'express'
import { boundArrival } from './arrival.ts'

export interface RunningServer {
  port: number
  /** Takes no new requests, lets those in hand end, and resolves when all have. */
  close(): Promise<void>
}

/** Listens. Clients that are slow to say what they want are cut off. */
export async function listen(
  app: Express,
  { host, port, stopping }: { host: string; port: number; stopping?: AbortSignal },
): Promise<RunningServer> {
  // How long a whole request may take is bounded here, because uploads may take longer than others.
  const server = createServer({ headersTimeout: 15_000, requestTimeout: 0, keepAliveTimeout: 65_000 }, app)
  server.on('clientError', refuseMalformed)
  if (stopping) endConnectionsOf(server, stopping)
  server.prependListener('request', (request, response) => boundArrival(request, () => refuseLate(response)))
  server.on('request', (_request, response) => {
    response.once('close', () => {
      // While stopping, a connection whose answer is out would otherwise be kept for a next request.
      if (!server.listening) setImmediate(() => server.closeIdleConnections())
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port)))
    server.listen(port, host, resolve)
  })
  return { port: portOf(server), close: () => closeServer(server) }
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const where = `${host}:${port}`
  if (error.code === 'EADDRINUSE') {
    return new ConfigurationError([
      { variable: 'SLIPWAY_PORT', problem: `names ${where}, which is taken: choose another port` },
    ])
  }
  return new ConfigurationError([
    { variable: 'SLIPWAY_HOST', problem: `with SLIPWAY_PORT gives ${where}: ${error.message}` },
  ])
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
}

const BODIES: Record<string, { status: string; code: string; message: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'VALIDATION_ERROR',
    message: 'The headers of the request are too large',
  },
  // Of the headers; of a whole request see refuseLate.
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    code: 'INVALID_BODY',
    message: 'The request did not arrive in time',
  },
}

/** In the middle of an answer, or after it, there is nothing left to say. */
function refuseLate({ headersSent, socket }: ServerResponse): void {
  if (headersSent) socket?.destroy()
  else if (socket !== null) refuseMalformed(Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
}

/** What is not even HTTP never reaches the application, and is answered in the same form. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, code, message } = BODIES[error.code ?? ''] ?? {
    status: '400 Bad Request',
    code: 'VALIDATION_ERROR',
    message: 'The request is not valid HTTP',
  }
  const body = JSON.stringify({ error: { code, message } })
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
