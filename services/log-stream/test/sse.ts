import { type ClientRequest, get, type IncomingMessage } from 'node:http'
import { connect as connectSocket, type Socket } from 'node:net'
import type { LogStreamMessage, ResourceStreamMessage } from '@slipway/contracts'
import type { TestStreams } from './setup.ts'

type Message<E extends LogStreamMessage['event']> = Extract<LogStreamMessage, { event: E }>['data']

/** A client that keeps all messages and accepts only single `data:` lines. */
export class SseClient {
  readonly messages: LogStreamMessage[] = []
  /** Whether the stream ended without an error. */
  ended = false
  /** Whether the connection broke. */
  broken = false
  readonly response: IncomingMessage
  readonly #request: ClientRequest
  #text = ''

  constructor(request: ClientRequest, response: IncomingMessage) {
    this.#request = request
    this.response = response
    response.setEncoding('utf8')
    response.on('data', (text: string) => this.#take(text))
    response.on('end', () => {
      this.ended = true
    })
    response.on('error', () => {
      this.broken = true
    })
  }

  static open(streams: TestStreams, id: string, token: string, query = ''): Promise<SseClient> {
    return SseClient.openAt(`${streams.url}/api/v1/deployments/${id}/logs?sse_token=${token}${query}`)
  }

  static openAt(url: string): Promise<SseClient> {
    return new Promise((resolve, reject) => {
      const request = get(url, { agent: false }, (response) => {
        if (response.statusCode === 200) resolve(new SseClient(request, response))
        else reject(new Error(`status ${response.statusCode}`))
      })
      request.on('error', reject)
    })
  }

  #take(text: string): void {
    this.#text += text
    const frames = this.#text.split('\n\n')
    this.#text = frames.pop() ?? ''
    for (const frame of frames) {
      if (!/^data: \{[^\n]*\}$/.test(frame)) throw new Error(`not a single data line: ${frame.slice(0, 200)}`)
      const message = JSON.parse(frame.slice(6)) as LogStreamMessage
      if (message.event !== message.data.type) throw new Error('data.type is not the event')
      this.messages.push(message)
    }
  }

  /** The messages of a change stream without pings. */
  get changes(): Exclude<ResourceStreamMessage, { event: 'ping' }>['data'][] {
    const messages = this.messages as (LogStreamMessage | ResourceStreamMessage)[]
    return messages.flatMap(({ data }) => ('resource_type' in data ? [data] : []))
  }

  all<E extends LogStreamMessage['event']>(event: E): Message<E>[] {
    return this.messages.filter((message) => message.event === event).map(({ data }) => data as Message<E>)
  }

  get lines(): string[] {
    return this.all('log').map(({ log }) => log.message)
  }

  get numbers(): (number | undefined)[] {
    return this.all('log').map(({ log }) => log.metadata?.seq)
  }

  get states(): string[] {
    return this.all('state_change').map(({ old_state, new_state }) => `${old_state}>${new_state}`)
  }

  close(): void {
    this.#request.destroy()
  }
}

/** Opens a stream, reads up to the first message that contains `upTo`, and then stops reading. */
export async function openStalled(url: string, upTo: string): Promise<{ socket: Socket; closed: () => boolean }> {
  const { hostname, port, pathname, search } = new URL(url)
  const socket = connectSocket(Number(port), hostname)
  let closed = false
  socket.on('close', () => {
    closed = true
  })
  socket.on('error', () => {})
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\n\r\n`)
  let text = ''
  await new Promise<void>((resolve) => {
    const take = (chunk: Buffer) => {
      text += chunk.toString()
      if (!text.includes(upTo)) return
      socket.off('data', take)
      socket.pause()
      resolve()
    }
    socket.on('data', take)
  })
  return { socket, closed: () => closed }
}
