import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ListeningServer, listen as listenAsService } from '@slipway/runtime'
import type { Express } from 'express'
import { boundArrival } from './arrival.ts'

/** Listens. Clients that are slow to say what they want are cut off. */
export function listen(
  app: Express,
  { host, port, stopping }: { host: string; port: number; stopping?: AbortSignal },
): Promise<ListeningServer> {
  return listenAsService(app, {
    ...{ host, port, variable: 'SLIPWAY_PORT' },
    ...(stopping ? { stopping } : {}),
    // How long a whole request may take is bounded here, because uploads may take longer than others.
    server: { requestTimeout: 0 },
    // The application measures and traces by the routes of the API, which Express does not know.
    observed: false,
    prepare(server) {
      server.on('clientError', refuseMalformed)
      server.prependListener('request', (request, response) => boundArrival(request, () => refuseLate(response)))
    },
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
