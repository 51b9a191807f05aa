import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Express } from 'express'

export interface HttpServer {
  port: number
  /** Takes no new calls and resolves when those in hand are answered. */
  close(): Promise<void>
}

/** Listens; rejects with a message that names the variable when the port cannot be had. */
export async function listen(app: Express, options: { port: number; host: string }): Promise<HttpServer> {
  const server = createServer(app)
  server.requestTimeout = 60_000
  server.headersTimeout = 15_000
  // Longer than an instance waits between two calls: a connection closed under a call would look like a failed call.
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
      reject(
        new Error(`cannot listen on ${host}:${port}, change SLIPWAY_BRIDGE_PORT: ${error.message}`, { cause: error }),
      )
    })
    server.listen(port, host, resolve)
  })
}
