import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ListeningServer, listen as listenAsService } from '@slipway/runtime'
import type { Express } from 'express'
import { limitArrivalTime } from './arrival.ts'

/** Listens, and closes connections on which a request takes too long to arrive. */
export function listen(
  app: Express,
  { host, port, stopping }: { host: string; port: number; stopping?: AbortSignal },
): Promise<ListeningServer> {
  return listenAsService(app, {
    ...{ host, port, variable: 'SLIPWAY_PORT' },
    ...(stopping ? { stopping } : {}),
    // `limitArrivalTime` limits the whole request instead, with more time for uploads.
    server: { requestTimeout: 0 },
    // The application measures and traces instead, because Express does not know the routes.
    observed: false,
    prepare(server) {
      server.on('clientError', refuseMalformed)
      server.prependListener('request', (request, response) => limitArrivalTime(request, () => refuseLate(response)))
    },
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
