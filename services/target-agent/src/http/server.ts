import { constants } from 'node:crypto'
import type { RequestListener } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import { AGENT_TLS } from '@slipway/contracts'
import { reportFailedHandshakes } from '@slipway/http'
import { type ListenAddress, type Logger, listenOn } from '@slipway/runtime'
import type { Identity } from '../identity/identity.ts'

const MAX_CONNECTIONS = 512
const HANDSHAKE_MS = 10_000
/** How long a connection may be idle. Instances close theirs after 20 s. */
const IDLE_MS = 60_000

interface AgentServer {
  port: number
  /** Starts to answer requests. Earlier requests were disconnected, and instances repeat them. */
  setHandler(handler: RequestListener): void
  /** Ends every connection. Instances may connect again. */
  disconnectAll(): void
  close(): Promise<void>
}

/** Listens for instances. Reads no request from a client without the key of the agent. */
export async function serve(address: ListenAddress, identity: Identity, logger: Logger): Promise<AgentServer> {
  let handler: RequestListener | null = null
  const sockets = new Set<Socket>()
  /** The agent id in the handshake of each connection. */
  const enrolments = new WeakMap<object, string>()
  const server = https.createServer(
    {
      ...AGENT_TLS,
      handshakeTimeout: HANDSHAKE_MS,
      // A resumed session would skip the check of the key.
      secureOptions: constants.SSL_OP_NO_TICKET,
      pskCallback: (socket, name) => {
        const enrolment = identity.valid
        if (enrolment?.agent_id !== name) return null
        enrolments.set(socket, name)
        return Buffer.from(enrolment.key, 'base64')
      },
      keepAliveTimeout: IDLE_MS,
      // This is also Node's limit for a connection that has not carried a request.
      headersTimeout: IDLE_MS,
      // The transfer of content may take long. `server.timeout` ends idle connections.
      requestTimeout: 0,
    },
    (request, response) => {
      // The agent may have been revoked or enrolled again after the handshake.
      if (handler && enrolments.get(request.socket) === identity.valid?.agent_id) handler(request, response)
      else request.socket.destroy()
    },
  )
  server.maxConnections = MAX_CONNECTIONS
  server.timeout = IDLE_MS
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.once('close', () => sockets.delete(socket))
  })
  const message = 'a TLS handshake failed: the client does not have the key of this agent'
  reportFailedHandshakes(server, logger, () => message)
  const port = await listenOn(server, address)
  const disconnectAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port,
    setHandler: (given) => {
      handler = given
    },
    disconnectAll,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        disconnectAll()
      }),
  }
}
