import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { notFound, Problem } from '@slipway/domain'
import type { Request, Response } from 'express'

const ROOT = '/docs'
const ALLOW = 'GET, HEAD'

/** The page may load from and call this server only. */
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

const FILES = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'] as const
const manifest = createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')
const folder = path.dirname(manifest)
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
/** The version in the URL makes browsers load the files of a new version in spite of their cache. */
const link = (file: (typeof FILES)[number]) => `${ROOT}/${file}?v=${version}`

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Slipway API</title>
<link rel="stylesheet" href="${link('swagger-ui.css')}">
<link rel="icon" type="image/png" href="${link('favicon-32x32.png')}">
</head>
<body>
<noscript>This page needs JavaScript. The document it shows is <a href="/api/v1/openapi.json">openapi.json</a>.</noscript>
<main id="api"></main>
<script src="${link('swagger-ui-bundle.js')}"></script>
<script src="${ROOT}/start.js"></script>
</body>
</html>
`

const START = `window.SwaggerUIBundle({
  url: '/api/v1/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  // No validation by an external service.
  validatorUrl: null,
})
`

/** The route of a path of the documentation page, or null. */
export function docsRoute(requestPath: string): string | null {
  if (requestPath === ROOT || requestPath === `${ROOT}/`) return ROOT
  return requestPath.startsWith(`${ROOT}/`) ? `${ROOT}/{file}` : null
}

/**
 * Serves the documentation page and its files without authentication, as the OpenAPI document.
 * @throws Problem NOT_FOUND, METHOD_NOT_ALLOWED
 */
export async function answerDocs(request: Request, response: Response): Promise<void> {
  const name = request.path.slice(ROOT.length + 1)
  const file = FILES.find((known) => known === name)
  if (name !== '' && name !== 'start.js' && file === undefined) throw notFound('This path')
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', ALLOW)
    throw new Problem('METHOD_NOT_ALLOWED', `${request.method} is not allowed here; allowed: ${ALLOW}`)
  }
  response.setHeader('Content-Security-Policy', POLICY)
  if (file !== undefined) return sendAsset(response, file)
  response.type(name === '' ? 'html' : 'js').send(name === '' ? PAGE : START)
}

async function sendAsset(response: Response, file: string): Promise<void> {
  response.setHeader('Cache-Control', 'public, max-age=86400')
  const closed = once(response, 'close')
  // A missing file is an error. A client that closes the connection is none.
  const sent = new Promise<void>((resolve, reject) => {
    response.sendFile(file, { root: folder, lastModified: false }, (error?: Error) =>
      error === undefined || response.headersSent || response.destroyed ? resolve() : reject(error),
    )
  })
  await Promise.race([sent, closed])
}
