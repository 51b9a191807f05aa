import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { notFound } from '@slipway/domain'
import type { Request, Response } from 'express'

/** The label of the console's requests in logs and metrics. */
export const CONSOLE_ROUTE = '/{console}'

const folder = path.join(path.dirname(createRequire(import.meta.url).resolve('@slipway/console/package.json')), 'dist')
const indexFile = path.join(folder, 'index.html')

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

/** The build writes compressed copies beside the larger files. */
const COPIES = [
  { encoding: 'br', ending: '.br' },
  { encoding: 'gzip', ending: '.gz' },
]

const isFile = (requested: string) => requested === '/icon.svg' || requested.startsWith('/assets/')

/** Whether a browser asks for the console: for one of its files, or for a page with an address of the console's own. */
export function isForConsole(request: Request): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false
  const { path: requested } = request
  // Without `make build` there is only the API.
  if (requested === '/' || isFile(requested)) return existsSync(indexFile)
  const wantsPage = !/^\/(api|docs)(\/|$)/.test(requested) && request.get('accept')?.includes('text/html') === true
  return wantsPage && existsSync(indexFile)
}

/**
 * Sends a file of the console, or its page, which shows the screen of whatever address it has.
 * @throws Problem NOT_FOUND, for example for a file of a release that is gone
 */
export async function answerConsole(request: Request, response: Response): Promise<void> {
  if (isFile(request.path)) return await sendFile(request, response)
  const page = await readFile(indexFile, 'utf8')
  const nonce = randomBytes(16).toString('base64')
  response.setHeader('Content-Security-Policy', policyWith(nonce))
  response.type('html').send(page.replace(NONCE, nonce))
}

async function sendFile(request: Request, response: Response): Promise<void> {
  const name = request.path.slice(1)
  if (name.includes('..') || !existsSync(path.join(folder, name))) throw notFound('This file of the console')
  const copy = COPIES.find(
    ({ encoding, ending }) => request.acceptsEncodings(encoding) && existsSync(path.join(folder, name + ending)),
  )
  response.type(path.extname(name))
  response.vary('Accept-Encoding')
  if (copy) response.setHeader('Content-Encoding', copy.encoding)
  // The names of files below /assets carry a hash of their content.
  const isHashed = name.startsWith('assets/')
  response.setHeader('Cache-Control', `public, max-age=${isHashed ? '31536000, immutable' : '3600'}`)
  // A client that leaves in the middle is no error; a file that was removed meanwhile is one.
  const sent = new Promise<void>((resolve, reject) => {
    response.sendFile(name + (copy?.ending ?? ''), { root: folder, cacheControl: false }, (error?: Error) =>
      error === undefined || response.headersSent || response.destroyed ? resolve() : reject(error),
    )
  })
  await Promise.race([sent, once(response, 'close')])
}
