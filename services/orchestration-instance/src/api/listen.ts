import { createServer, type Server } from 'node:http'
import { ConfigurationError } from '@slipway/runtime'
import type { Express } from 'express'

/** Listens; a port that is taken is a configuration error. */
export async function listen(app: Express, host: string, port: number): Promise<Server> {
  const server = createServer(app)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE'
      const problem = taken ? `names ${host}:${port}, which is taken: choose another port` : `: ${error.message}`
      reject(new ConfigurationError([{ variable: 'SLIPWAY_INSTANCE_PORT', problem, example: '8083' }]))
    })
    server.listen(port, host, resolve)
  })
  return server
}
