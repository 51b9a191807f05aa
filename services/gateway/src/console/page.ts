import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Request, Response } from 'express'
import sirv from 'sirv'

/** The label of the console's requests in logs and metrics. */
export const CONSOLE_ROUTE = '/{console}'

const folder = path.join(path.dirname(createRequire(import.meta.url).resolve('@slipway/console/package.json')), 'dist')
const indexFile = path.join(folder, 'index.html')
/** Null where only the services were built: `make build` builds the console too. */
const page = existsSync(indexFile) ? readFileSync(indexFile, 'utf8') : null

const NONCE = '%CSP_NONCE%'
const policyWith = (nonce: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    // Mantine sets sizes and colours in style attributes, which cannot load or run anything.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

// The names of files below /assets carry a hash of their content. Vite writes compressed copies beside them.
const files =
  page === null
    ? null
    : sirv(folder, {
        brotli: true,
        gzip: true,
        etag: true,
        setHeaders: (response, pathname) =>
          response.setHeader(
            'Cache-Control',
            pathname.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'public, max-age=3600',
          ),
      })

/** Whether a browser asks for the console: for one of its files, or for a page with an address of the console's own. */
export function isForConsole(request: Request): boolean {
  if (page === null || (request.method !== 'GET' && request.method !== 'HEAD')) return false
  const { path: requested } = request
  if (requested === '/' || requested === '/icon.svg' || requested.startsWith('/assets/')) return true
  return !/^\/(api|docs)(\/|$)/.test(requested) && request.get('accept')?.includes('text/html') === true
}

/** Sends a file of the console, or its page, which shows the screen of whatever address it has. */
export async function answerConsole(request: Request, response: Response): Promise<void> {
  if (page === null || files === null) return
  if (request.path === '/icon.svg' || request.path.startsWith('/assets/')) {
    const sent = new Promise<void>((resolve) => response.once('close', resolve))
    files(request, response, () => {
      response.status(404).type('text').send('The console has no such file')
    })
    return sent
  }
  const nonce = randomBytes(16).toString('base64')
  response.setHeader('Content-Security-Policy', policyWith(nonce))
  response.type('html').send(page.replace(NONCE, nonce))
}
