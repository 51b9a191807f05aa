import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'",
  'referrer-policy': 'no-referrer',
  connection: 'close',
}

/** The end of one login in the browser, as an address of this machine. */
export interface Loopback {
  port: number
  /** Resolves to the code of the login. */
  code: Promise<string>
  close(): void
}

/** Listens on a free port, for this machine only, until the browser arrives with the code. Other visitors change nothing. */
export async function listenForCode(state: string): Promise<Loopback> {
  const server = createServer()
  const code = new Promise<string>((resolve) => {
    let isUsed = false
    server.on('request', ({ method, url = '/' }, response) => {
      if (method !== 'GET' || !/^\/(\?|$)/.test(url)) return sendPage(response, 404, 'There is nothing here.')
      const found = readCode(new URL(url, 'http://127.0.0.1'), state)
      if (found === undefined || isUsed) return sendPage(response, 400, 'No login with this address is awaited here.')
      isUsed = true
      sendPage(response, 200, 'The login goes on in the terminal. You can close this page.')
      // Stops listening at once, and lets the browser read the page.
      server.close()
      resolve(found)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    code,
    close: () => {
      server.close()
      server.closeIdleConnections()
    },
  }
}

/** Returns the code of the address at which the login ended, or undefined if it belongs to another login. */
export function readCode({ searchParams }: URL, state: string): string | undefined {
  const code = searchParams.get('code')
  return code !== null && code !== '' && searchParams.get('state') === state ? code : undefined
}

function sendPage(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, HEADERS)
  response.end(`<!doctype html><html lang="en"><title>Slipway</title><p>${sentence}</p></html>\n`)
}
