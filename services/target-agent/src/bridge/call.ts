import http from 'node:http'
import https from 'node:https'
import { compile, type Static, type TSchema } from '@slipway/contracts'
import type { BridgeConnections } from '@slipway/runtime'

const TIMEOUT_MS = 10_000
const ANSWER_LIMIT = 64 * 1024

/** The bridge refused the call. */
export class BridgeRefusal extends Error {
  override name = 'BridgeRefusal'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

interface BridgeCall<T extends TSchema> {
  connections: BridgeConnections
  url: string
  path: string
  credential: string
  /** Builds the body. `localAddress` is the address of this machine on the connection to the bridge. */
  bodyOf(localAddress: string): unknown
  answer: T
}

/** Posts to the bridge. Throws BridgeRefusal, BridgeTlsError and network errors. */
export async function callBridge<T extends TSchema>(call: BridgeCall<T>): Promise<Static<T>> {
  const url = new URL(`${call.url.replace(/\/+$/, '')}${call.path}`)
  const { status, text } = await exchange(url, call)
  const answer = parse(text)
  if (status < 200 || status > 299) {
    const message = (answer as { error?: { message?: unknown } } | null)?.error?.message
    throw new BridgeRefusal(status, typeof message === 'string' ? message : `the bridge answered ${status}`)
  }
  const [problem] = compile(call.answer)(answer)
  if (problem)
    throw new BridgeRefusal(status, `the answer of the bridge is not valid: ${problem.path} ${problem.message}`)
  return answer as Static<T>
}

function exchange(
  url: URL,
  { connections, credential, bodyOf }: Pick<BridgeCall<TSchema>, 'connections' | 'credential' | 'bodyOf'>,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? https : http).request(url, {
      method: 'POST',
      agent: connections.agentFor(url.href),
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    request.on('error', (error) => reject(connections.explain(error, url.href)))
    request.on('socket', (socket) => {
      const send = () => request.end(JSON.stringify(bodyOf(plainAddress(socket.localAddress ?? ''))))
      // A new socket has no local address before it is connected.
      if (socket.connecting) socket.once('connect', send)
      else send()
    })
    request.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
        if (text.length > ANSWER_LIMIT) response.destroy(new Error('the answer of the bridge is too long'))
      })
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
  })
}

const plainAddress = (address: string) => address.replace(/^::ffff:/i, '')

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
