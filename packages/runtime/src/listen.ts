import type { AddressInfo, Server } from 'node:net'
import { ConfigurationError } from './config.ts'

export interface ListenAddress {
  host: string
  port: number
  /** The variable that sets the port, for the error if the port is not available. */
  variable: string
}

/**
 * Makes a server listen, and returns its port.
 * @throws ConfigurationError when the port is not available
 */
export function listenOn(server: Server, { host, port, variable }: ListenAddress): Promise<number> {
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
