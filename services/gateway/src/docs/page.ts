import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { HttpCall, Route } from '@slipway/http'
import type { Request, Response } from 'express'

const ROOT = '/docs'

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

type DocsRoute = Route<HttpCall<Request, Response>>

const routeOf = (path: string, send: (response: Response) => unknown): DocsRoute => ({
  method: 'GET',
  path,
  async handle({ response }) {
    response.setHeader('Content-Security-Policy', POLICY)
    await send(response)
    return null
  },
})

const sendPage = (response: Response) => response.type('html').send(PAGE)

/** The documentation page and its files. They need no authentication, as the OpenAPI document. */
export const docsRoutes: DocsRoute[] = [
  routeOf(ROOT, sendPage),
  routeOf(`${ROOT}/`, sendPage),
  routeOf(`${ROOT}/start.js`, (response) => response.type('js').send(START)),
  ...FILES.map((file) => routeOf(`${ROOT}/${file}`, (response) => sendAsset(response, file))),
]

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
