import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Response } from 'express'
import { type DocsRoute, ROOT, routeOf, sendFile } from './files.ts'

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

/** The page of all operations and its files. They need no authentication, as the OpenAPI document. */
export const referenceRoutes: DocsRoute[] = [
  routeOf(`${ROOT}/reference`, sendReference),
  routeOf(`${ROOT}/start.js`, (response) => response.type('js').send(START)),
  ...FILES.map((file) =>
    routeOf(`${ROOT}/${file}`, (response) => sendFile(response, { folder, file, cache: 'public, max-age=86400' })),
  ),
]

export function sendReference(response: Response): Response {
  return response.type('html').send(PAGE)
}
