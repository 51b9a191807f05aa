import { constants } from 'node:crypto'
import https from 'node:https'
import type { Socket } from 'node:net'
import { AGENT_TLS } from '@slipway/contracts'
import { type Logger, type Place, takePlace } from '@slipway/runtime'
import type { Identity } from '../identity/identity.ts'
import type { Answer } from './routes.ts'

const MAX_CONNECTIONS = 512
const HANDSHAKE_MS = 10_000
/** Between two log lines about strangers. */
const STRANGERS_EVERY_MS = 10_000

export interface AgentServer {
  port: number
  /** From now on it answers; whoever came earlier was cut off and tries again. */
  answerWith(answer: Answer): void
  /** Ends every connection; they may come again. */
  cutAll(): void
  close(): Promise<void>
}

/** Listens for instances. Nothing is read of whoever does not hold the agent's key. */
export async function serve(place: Place, identity: Identity, logger: Logger): Promise<AgentServer> {
  let answer: Answer | null = null
  const sockets = new Set<Socket>()
  /** Under which enrolment each was let in. */
  const enrolments = new WeakMap<object, string>()
  const server = https.createServer(
    {
      ...AGENT_TLS,
      handshakeTimeout: HANDSHAKE_MS,
      // A session that is taken up again would not be asked for the key.
      secureOptions: constants.SSL_OP_NO_TICKET,
      pskCallback: (socket, name) => {
        const enrolment = identity.valid
        if (enrolment?.agent_id !== name) return null
        enrolments.set(socket, name)
        return Buffer.from(enrolment.key, 'base64')
      },
      keepAliveTimeout: 60_000,
      headersTimeout: 15_000,
      // Content may take its time; whoever sends nothing for a while is cut off below.
      requestTimeout: 0,
    },
    (request, response) => {
      // The agent may have been revoked since, or enrolled anew.
      if (answer && enrolments.get(request.socket) === identity.valid?.agent_id) answer(request, response)
      else request.socket.destroy()
    },
  )
  server.maxConnections = MAX_CONNECTIONS
  server.timeout = 60_000
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.once('close', () => sockets.delete(socket))
  })
  let strangers = 0
  let toldAt = Number.NEGATIVE_INFINITY
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    strangers += 1
    if (performance.now() - toldAt < STRANGERS_EVERY_MS) return
    logger.warn('somebody without the key of this agent was not let in', {
      ...{ address: socket.remoteAddress, code: error.code, since_last: strangers },
    })
    toldAt = performance.now()
    strangers = 0
  })
  const port = await takePlace(server, place)
  const cutAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port,
    answerWith: (given) => {
      answer = given
    },
    cutAll,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        cutAll()
      }),
  }
}
