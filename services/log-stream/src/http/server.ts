import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Express } from 'express'

export interface HttpServer {
  port: number
  /** Takes no new streams and resolves when the open ones have ended. */
  close(): Promise<void>
}

/** Listens; rejects with a message that names the variable when the port cannot be had. */
export async function listen(app: Express, options: { port: number; host: string }): Promise<HttpServer> {
  const server = createServer({ noDelay: true }, app)
  server.headersTimeout = 15_000
  server.keepAliveTimeout = 65_000
  await bound(server, options)
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeIdleConnections()
      }),
  }
}

function bound(server: Server, { port, host }: { port: number; host: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const message = `cannot listen on ${host}:${port}, change SLIPWAY_LOG_STREAM_PORT: ${error.message}`
      reject(new Error(message, { cause: error }))
    })
    server.listen(port, host, resolve)
  })
}
