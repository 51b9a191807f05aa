import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Call {
  path: string
  authorization: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into field by field
  body: any
}

export interface FakeInstance {
  url: string
  calls: Call[]
  /** What it answers from now on. */
  answer: { status: number; body?: unknown }
  /** Runs before each answer. */
  before: () => Promise<unknown> | unknown
  close(): Promise<void>
}

/** The far end of the bridge's calls: an HTTP server that keeps what it is told. */
export async function startInstance(): Promise<FakeInstance> {
  const server = createServer((request, response) => {
    void read(request).then(async (text) => {
      instance.calls.push({
        path: request.url ?? '',
        authorization: request.headers.authorization,
        body: JSON.parse(text),
      })
      await instance.before()
      response.writeHead(instance.answer.status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(instance.answer.body ?? {}))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const instance: FakeInstance = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    answer: { status: 202 },
    before: () => {},
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return instance
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

/** Waits until the condition holds. */
export async function until(condition: () => Promise<boolean> | boolean, what: string): Promise<void> {
  const end = Date.now() + 20_000
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`it never came: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
