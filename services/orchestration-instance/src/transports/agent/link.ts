import { createReadStream } from 'node:fs'
import type { ClientRequest, IncomingMessage } from 'node:http'
import https from 'node:https'
import { pipeline } from 'node:stream/promises'
import tls from 'node:tls'
import { AGENT_TLS } from '@slipway/contracts'
import { currentTraceparent } from '@slipway/runtime'

/** A connection without a byte for this time counts as lost. The agent answers a call for output within 10 s. */
const IDLE_MS = 20_000
const KEEP_ALIVE_MS = 20_000
const MAX_SOCKETS = 8

/** The address of an agent, and the key that authenticates both sides. */
export interface AgentAddress {
  id: string
  host: string
  port: number
  key: string
}

/** The agent did not answer. */
export class LinkError extends Error {
  override name = 'LinkError'
  readonly code: string | undefined
  /** Whether the agent may have received the call. */
  readonly sent: boolean

  constructor(cause: Error, sent: boolean) {
    super(cause.message)
    this.code = (cause as NodeJS.ErrnoException).code
    this.sent = sent
  }
}

export interface LinkAnswer {
  status: number
  body: Buffer
}

/** A file whose bytes are sent as they are. */
interface FileBody {
  file: string
  size: number
}

interface LinkCall {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  path: string
  body?: string | FileBody
  /** The limit of the answer in bytes. */
  limit: number
  signal?: AbortSignal
}

/** Calls one agent over pooled TLS connections. A pre-shared key authenticates both sides. */
export class AgentLink {
  readonly #connections: PskAgent

  constructor(address: AgentAddress) {
    this.#connections = new PskAgent(address)
  }

  /** Throws LinkError, also when the signal aborts. */
  async call(call: LinkCall): Promise<LinkAnswer> {
    for (;;) {
      const request = https.request({
        agent: this.#connections,
        method: call.method,
        path: call.path,
        // The name is not checked: the key authenticates the agent.
        headers: { host: 'agent', ...headersOf(call.body), ...traceHeader() },
        ...(call.signal && { signal: call.signal }),
      })
      try {
        return await exchange(request, call)
      } catch (error) {
        // The agent may have closed an idle connection while it still runs.
        if (request.reusedSocket && !call.signal?.aborted && isClosed(error)) continue
        throw error
      }
    }
  }

  close(): void {
    this.#connections.destroy()
  }
}

class PskAgent extends https.Agent {
  readonly #address: AgentAddress

  constructor(address: AgentAddress) {
    super({ keepAlive: true, maxSockets: MAX_SOCKETS, timeout: KEEP_ALIVE_MS, maxCachedSessions: 0 })
    this.#address = address
  }

  override createConnection(): tls.TLSSocket {
    const { id, host, port, key } = this.#address
    const socket = tls.connect({
      host,
      port,
      ...AGENT_TLS,
      pskCallback: () => ({ psk: Buffer.from(key, 'base64'), identity: id }),
      // There is no certificate: without the key the handshake fails.
      checkServerIdentity: () => undefined,
    })
    socket.setNoDelay(true)
    return socket
  }
}

function traceHeader(): { traceparent?: string } {
  const traceparent = currentTraceparent()
  return traceparent === null ? {} : { traceparent }
}

function headersOf(body: LinkCall['body']): Record<string, string | number> {
  if (body === undefined) return {}
  if (typeof body !== 'string') return { 'content-type': 'application/octet-stream', 'content-length': body.size }
  return { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
}

function exchange(request: ClientRequest, { body, limit }: LinkCall): Promise<LinkAnswer> {
  return new Promise((resolve, reject) => {
    let sent = false
    const fail = (error: Error) => {
      request.destroy()
      reject(new LinkError(error, sent))
    }
    request.setTimeout(IDLE_MS, () => fail(Object.assign(new Error('nothing came'), { code: 'ETIMEDOUT' })))
    request.on('error', fail)
    request.on('socket', (socket) => {
      const secured = () => {
        sent = true
      }
      if ((socket as tls.TLSSocket).getCipher?.()) secured()
      else socket.once('secureConnect', secured)
    })
    request.on('response', (response) => {
      void readAnswer(response, limit).then(resolve, fail)
    })
    if (body === undefined || typeof body === 'string') request.end(body)
    else void pipeline(createReadStream(body.file), request).catch(fail)
  })
}

async function readAnswer(response: IncomingMessage, limit: number): Promise<LinkAnswer> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of response as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > limit) throw Object.assign(new Error(`more than ${limit} bytes`), { code: 'ANSWER' })
    pieces.push(piece)
  }
  return { status: response.statusCode ?? 0, body: Buffer.concat(pieces) }
}

const isClosed = (error: unknown) =>
  error instanceof LinkError && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
