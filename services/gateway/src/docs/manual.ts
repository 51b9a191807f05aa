import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { type DocsRoute, ROOT, routeOf, sendFile } from './files.ts'
import { sendReference } from './reference.ts'

const built = path.join(path.dirname(createRequire(import.meta.url).resolve('@slipway/manual/package.json')), 'dist')
const INDEX = 'README.html'

/** Names below the folder, such as `cli.html` and `images/now.png`. */
const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => path.extname(name))

const addressesOf = (file: string) => (file === INDEX ? [ROOT, `${ROOT}/`] : [`${ROOT}/${file.replace(/\.html$/, '')}`])

/** The pages of docs, for the version that runs. Without `make build` there is only the reference. */
export function manualRoutes(folder = built): DocsRoute[] {
  if (!existsSync(path.join(folder, INDEX))) return [routeOf(ROOT, sendReference), routeOf(`${ROOT}/`, sendReference)]
  return listFiles(folder).flatMap((file) =>
    addressesOf(file).map((address) =>
      routeOf(address, (response) => sendFile(response, { folder, file, cache: 'no-cache' })),
    ),
  )
}
