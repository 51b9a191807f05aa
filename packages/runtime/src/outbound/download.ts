import http from 'node:http'
import https from 'node:https'
import { NoAnswer } from './exchange.ts'

interface Download {
  url: string
  headers: Record<string, string>
  /** The name of the server in errors. */
  to: string
  agent: http.Agent
  /** The download fails after this time without a byte. */
  idleMs: number
}

export interface DownloadAnswer {
  status: number
  headers: http.IncomingHttpHeaders
  /** The body as a stream. An unread body fails after `idleMs`. */
  body: AsyncIterable<Uint8Array>
}

/** Sends a GET request. Resolves when the answer begins. Redirects are not followed. */
export function download({ url, headers, to, agent, idleMs }: Download): Promise<DownloadAnswer> {
  return new Promise((resolve, reject) => {
    const { get } = url.startsWith('https:') ? https : http
    const outgoing = get(url, { headers, agent })
    let receiver: { destroy(error: Error): unknown } = outgoing
    const idle = setTimeout(() => receiver.destroy(new NoAnswer(`${to} sent nothing for ${idleMs} ms`)), idleMs)
    outgoing.on('error', reject)
    outgoing.on('close', () => clearTimeout(idle))
    outgoing.on('response', (response) => {
      // From here on, only an error of the response reaches the reader of the body.
      receiver = response
      idle.refresh()
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: watched(response, idle) })
    })
  })
}

async function* watched(response: http.IncomingMessage, idle: NodeJS.Timeout): AsyncGenerator<Uint8Array> {
  for await (const piece of response) {
    idle.refresh()
    yield piece
  }
}
