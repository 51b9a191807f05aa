import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type RouteHandler = (request: IncomingMessage, response: ServerResponse, body: unknown) => void

/** Starts an HTTP server on a free port. The test gives the answer for each `METHOD /path`. */
export async function startFakeServer(routes: Record<string, RouteHandler>) {
  const requests: { route: string; query: URLSearchParams; authorization: string | undefined; body: unknown }[] = []
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://fake')
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const bytes = Buffer.concat(chunks)
    const isJson = request.headers['content-type'] === 'application/json'
    const body = bytes.length === 0 ? undefined : isJson ? JSON.parse(bytes.toString()) : bytes
    const route = `${request.method} ${url.pathname.replace('/api/v1', '')}`
    requests.push({ route, query: url.searchParams, authorization: request.headers.authorization, body })
    const respond = routes[route]
    if (respond) respond(request, response, body)
    else sendJson(response, 404, { error: { code: 'NOT_FOUND', message: `no ${route}` } })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    count: (route: string) => requests.filter((one) => one.route === route).length,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'request-7' })
  response.end(JSON.stringify(body))
}
