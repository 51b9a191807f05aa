// Makes src/generated/ of the OpenAPI document: a type for everything that travels, and a table of the routes.
//   node packages/client/scripts/generate.mjs [--check]      --check writes nothing and fails when the files are stale
import fs from 'node:fs'
import path from 'node:path'
import openapiTypes, { astToString } from 'openapi-typescript'
import { LOGIN_ERRORS, openApiDocument } from '../../contracts/dist/index.js'
import { ACTING_PERMISSIONS } from '../../domain/dist/index.js'

const folder = path.join(import.meta.dirname, '../src/generated')
const HEADER = '// Made by packages/client/scripts/generate.mjs from the OpenAPI document: `make client`.\n'

// The server's version is no part of the types.
const document = openApiDocument('0.0.0')

/** Examples would make the types three times as long. */
const EXAMPLES = new Set(['example', 'examples'])

/** What a call takes and gives. Refusals are errors, whose form is one, and headers are read by name. */
async function types() {
  const slim = JSON.parse(JSON.stringify(document, (key, value) => (EXAMPLES.has(key) ? undefined : value)))
  for (const operation of Object.values(slim.paths).flatMap((methods) => Object.values(methods))) {
    const given = Object.entries(operation.responses).filter(([status]) => status < 300)
    operation.responses = Object.fromEntries(given.map(([status, { headers: _, ...rest }]) => [status, rest]))
  }
  slim.components = { schemas: slim.components.schemas }
  const nodes = await openapiTypes(slim, { alphabetize: true, defaultNonNullable: false })
  return HEADER + astToString(nodes.filter(({ name }) => ['components', 'operations'].includes(name?.text)))
}

/** What a request of each operation needs to know at run time. */
function routes() {
  const lines = Object.entries(document.paths).flatMap(([route, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const bearer = operation.security.some((one) => 'bearer' in one)
      const repeatable = operation.parameters.some((one) => one.in === 'header' && one.name === 'Idempotency-Key')
      const binary = 'application/octet-stream' in (operation.requestBody?.content ?? {})
      const facts = [
        `method: '${method.toUpperCase()}'`,
        `path: '${route}'`,
        ...(bearer ? ['bearer: true'] : []),
        ...(repeatable ? ['idempotencyKey: true'] : []),
        ...(binary ? ['binary: true'] : []),
      ]
      return `  ${operation.operationId}: { ${facts.join(', ')} },\n`
    }),
  )
  return `${HEADER}export const ROUTES = {\n${lines.sort().join('')}} as const\n`
}

/** What the login page says. A browser should not load all of the contracts for it. */
function loginErrors() {
  const lines = Object.entries(LOGIN_ERRORS).map(([code, sentence]) => `  ${code}: ${JSON.stringify(sentence)},\n`)
  return `${HEADER}export const LOGIN_ERRORS = {\n${lines.join('')}} as const\n`
}

/** The permissions that a role with a scope gives within it. */
function actingPermissions() {
  const lines = ACTING_PERMISSIONS.map((permission) => `  '${permission}',\n`)
  return `${HEADER}export const ACTING_PERMISSIONS = [\n${lines.join('')}] as const\n`
}

const files = {
  'openapi.ts': await types(),
  'routes.ts': routes(),
  'login-errors.ts': loginErrors(),
  'acting-permissions.ts': actingPermissions(),
}
const check = process.argv.includes('--check')
fs.mkdirSync(folder, { recursive: true })
for (const [name, text] of Object.entries(files)) {
  const file = path.join(folder, name)
  if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') === text) continue
  if (check) {
    console.error(`${path.relative(process.cwd(), file)} does not fit the API any more: run \`make client\``)
    process.exitCode = 1
  } else {
    fs.writeFileSync(file, text)
    console.log(`wrote ${path.relative(process.cwd(), file)}`)
  }
}
