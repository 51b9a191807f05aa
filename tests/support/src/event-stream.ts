import type { Api } from './api.ts'
import type { Suite } from './suite.ts'

export interface StreamMessage {
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages whose form they assert
  data: any
}

/** Opens the log stream of a deployment with a new token. Returns the raw response. */
export async function openLogStream(suite: Pick<Suite, 'url'>, api: Api, id: string, from?: number): Promise<Response> {
  const query = from === undefined ? '' : `&from=${from}`
  return await fetch(`${suite.url}/api/v1/deployments/${id}/logs?sse_token=${await sseToken(api)}${query}`)
}

/** A single-use token that opens a stream. */
export async function sseToken(api: Api): Promise<string> {
  const { status, body } = await api.post('/auth/sse-token', {})
  if (status !== 200) throw new Error(`sse-token answered ${status}`)
  return body.sse_token
}

/** Opens a change stream with a new token. */
export async function openChangeStream(suite: Pick<Suite, 'url'>, api: Api, resource: string): Promise<Response> {
  return await fetch(`${suite.url}/api/v1/sse/${resource}?sse_token=${await sseToken(api)}`)
}

/** Reads a stream to its end. Each frame must be exactly one `data:` line. Calls `onMessage` for each message. */
export async function readStream(response: Response, onMessage?: (m: StreamMessage) => void): Promise<StreamMessage[]> {
  if (response.status !== 200 || response.body === null) throw new Error(`the stream answered ${response.status}`)
  const messages: StreamMessage[] = []
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of response.body) {
    rest += decoder.decode(chunk as Uint8Array, { stream: true })
    const frames = rest.split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      if (!frame.startsWith('data: ') || frame.includes('\n')) throw new Error(`not a single data line: ${frame}`)
      const message = JSON.parse(frame.slice('data: '.length)) as StreamMessage
      messages.push(message)
      onMessage?.(message)
    }
  }
  if (rest !== '') throw new Error(`the stream ended inside a frame: ${rest}`)
  return messages
}
