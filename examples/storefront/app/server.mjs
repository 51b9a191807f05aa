// The storefront: one page that says which version answers where, and a health check. Its settings come as environment
// variables, its version from the file VERSION that pack.sh puts beside it.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const version = readFileSync(new URL('VERSION', import.meta.url), 'utf8').trim()
const { PORT = '18080', TARGET = 'by hand', GREETING = 'Welcome', COLOUR = '#336699' } = process.env
// For trying out a rollback: a release that starts, but is not well.
const failsHealth = process.env.FAIL_HEALTH === 'true'

const escapeHtml = (text) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
// Only what a colour may look like goes into the style sheet.
const colour = /^(#[0-9a-fA-F]{3,8}|[a-zA-Z]{1,32})$/.test(COLOUR) ? COLOUR : '#336699'

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Storefront ${escapeHtml(version)}</title>
<style>
  body { font: 1.2rem system-ui, sans-serif; margin: 0; display: grid; place-content: center; height: 100vh }
  main { border-left: .5rem solid ${colour}; padding: 1rem 2rem }
</style>
<main>
  <h1>${escapeHtml(GREETING)}</h1>
  <p>Storefront <b>${escapeHtml(version)}</b>, served by <b>${escapeHtml(TARGET)}</b></p>
</main>
</html>
`

const health = JSON.stringify({ status: failsHealth ? 'failing' : 'ok', version, target: TARGET })

const routes = {
  '/': { status: 200, type: 'text/html; charset=utf-8', body: page },
  '/health': { status: failsHealth ? 500 : 200, type: 'application/json', body: `${health}\n` },
}
const notFound = { status: 404, type: 'text/plain', body: 'There is no such page.\n' }

const server = createServer((request, response) => {
  const path = (request.url ?? '/').split('?')[0]
  const { status, type, body } = Object.hasOwn(routes, path) ? routes[path] : notFound
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
  response.end(request.method === 'HEAD' ? undefined : body)
})

server.on('error', (error) => {
  console.error(error.code === 'EADDRINUSE' ? `port ${PORT} is taken by another process` : error.message)
  process.exit(1)
})
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`storefront ${version} on ${TARGET}: listening on 127.0.0.1:${PORT}`)
})

process.on('SIGTERM', () => {
  server.close(() => process.exit(0))
  server.closeIdleConnections()
})
