import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ConfigurationError } from './config.ts'

export interface ListenOptions {
  host: string
  port: number
  /** The variable that sets the port, for the message when it cannot be had. */
  variable: string
  /** Beyond the time limits that every server of Slipway has. */
  server?: ServerOptions
}

export interface ListeningServer {
  port: number
  server: Server
  /** Takes no new requests and resolves when those in hand are answered. */
  close(): Promise<void>
}

const IDLE_SWEEP_MS = 50

/**
 * Serves HTTP. Clients that are slow to say what they want are cut off; idle connections are kept longer than a caller
 * waits between two calls, since one closed under a call would look like a failed call.
 * @throws ConfigurationError when the port cannot be had
 */
export async function listen(
  app: RequestListener,
  { host, port, variable, server: options }: ListenOptions,
): Promise<ListeningServer> {
  const limits = { headersTimeout: 15_000, requestTimeout: 60_000, keepAliveTimeout: 65_000, noDelay: true }
  const server = createServer({ ...limits, ...options }, app)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const where = `${host}:${port}`
      const problem =
        error.code === 'EADDRINUSE'
          ? `names ${where}, which is taken: choose another port`
          : `gives ${where}: ${error.message}`
      reject(new ConfigurationError([{ variable, problem }]))
    })
    server.listen(port, host, resolve)
  })
  return {
    server,
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
