import { createHmac } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'

/** A received webhook call. */
export interface Received {
  path: string
  id: string
  timestamp: number
  signature: string
  contentType: string | undefined
  body: string
  event: { type: string; timestamp: string; data: Record<string, unknown> }
}

export interface Receiver {
  url: string
  received: Received[]
  /** Answers the calls; null to leave them without an answer. */
  answer: ((call: Received) => { status: number; headers?: Record<string, string>; body?: string }) | null
  close(): Promise<void>
}

/** Starts an HTTP server that receives webhooks. */
export async function startReceiver(): Promise<Receiver> {
  const server = http.createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const body = Buffer.concat(pieces).toString('utf8')
    const call: Received = {
      path: request.url ?? '',
      id: String(request.headers['webhook-id']),
      timestamp: Number(request.headers['webhook-timestamp']),
      signature: String(request.headers['webhook-signature']),
      contentType: request.headers['content-type'],
      body,
      event: JSON.parse(body),
    }
    receiver.received.push(call)
    const answer = receiver.answer?.(call)
    if (answer === undefined) return
    response.writeHead(answer.status, answer.headers).end(answer.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    answer: () => ({ status: 204 }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return receiver
}

/** The signature of the Standard Webhooks specification, computed without the code of Slipway. */
export function expectedSignature(secret: string, { id, timestamp, body }: Received): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`, 'utf8').digest('base64')}`
}
