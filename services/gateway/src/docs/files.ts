import { once } from 'node:events'
import type { HttpCall, Route } from '@slipway/http'
import type { Request, Response } from 'express'

/** The address of the documentation. */
export const ROOT = '/docs'

/** A page may load from and call this server only. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // The style sheet has icons as data URLs.
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export type DocsRoute = Route<HttpCall<Request, Response>>

export const routeOf = (path: string, send: (response: Response) => unknown): DocsRoute => ({
  method: 'GET',
  path,
  async handle({ response }) {
    response.setHeader('Content-Security-Policy', POLICY)
    await send(response)
    return null
  },
})

/** Sends a file of this folder. A missing file is an error. A client that closes the connection is none. */
export async function sendFile(
  response: Response,
  { folder, file, cache }: { folder: string; file: string; cache: string },
): Promise<void> {
  response.setHeader('Cache-Control', cache)
  const closed = once(response, 'close')
  const sent = new Promise<void>((resolve, reject) => {
    response.sendFile(file, { root: folder, lastModified: false, cacheControl: false }, (error?: Error) =>
      error === undefined || response.headersSent || response.destroyed ? resolve() : reject(error),
    )
  })
  await Promise.race([sent, closed])
}
