import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ConfigurationError } from '@slipway/runtime'
import type { Express } from 'express'

export interface HttpServer {
  port: number
  /** Takes no new streams and resolves when the open ones have ended. */
  close(): Promise<void>
}

const IDLE_SWEEP_MS = 50

/** Listens; rejects with a ConfigurationError when the port cannot be had. */
export async function listen(app: Express, options: { port: number; host: string }): Promise<HttpServer> {
  const server = createServer({ noDelay: true }, app)
  server.headersTimeout = 15_000
  server.keepAliveTimeout = 65_000
  await bound(server, options)
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        // A connection kept alive after its last answer would hold up the stop.
        const idle = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS)
        server.close(() => {
          clearInterval(idle)
          resolve()
        })
      }),
  }
}

function bound(server: Server, { port, host }: { port: number; host: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const where = `${host}:${port}`
      const problem =
        error.code === 'EADDRINUSE' ? `names ${where}, which is taken: choose another port` : `: ${error.message}`
      reject(new ConfigurationError([{ variable: 'SLIPWAY_LOG_STREAM_PORT', problem, example: '8081' }]))
    })
    server.listen(port, host, resolve)
  })
}
