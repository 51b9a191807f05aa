import { describe, expect, test } from '@jest/globals'
import { Validator } from '@seriousme/openapi-schema-validator'
import { compile, EXAMPLES, errorCodesOf, OPERATIONS, type Operation, openApiDocument } from '@slipway/contracts'
import { ERROR_CODES } from '@slipway/domain'

// biome-ignore lint/suspicious/noExplicitAny: the test reads many parts of a document of another standard
type Json = Record<string, any>

const document = JSON.parse(JSON.stringify(openApiDocument('1.2.3'))) as Json
const operations = Object.entries(OPERATIONS) as [string, Operation][]
const entryOf = ({ method, path }: Operation): Json => document['paths'][`/api/v1${path}`][method.toLowerCase()]

const codesOf = (response: Json): (keyof typeof ERROR_CODES)[] => response['x-error-codes'] ?? []

/** Every object in the document with its path. */
function* places(value: unknown, path = '#'): Generator<[string, Json]> {
  if (typeof value !== 'object' || value === null) return
  yield [path, value as Json]
  for (const [key, item] of Object.entries(value)) yield* places(item, `${path}/${key}`)
}

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator()
  const { valid, errors } = await validator.validate(structuredClone(document))
  expect({ valid, errors }).toEqual({ valid: true, errors: undefined })
  expect(validator.version).toBe('3.1')
})

describe('each operation', () => {
  test('has an entry in the document, and every entry has an operation', () => {
    const documented = Object.entries(document['paths'] as Json).flatMap(([path, item]) =>
      Object.entries(item as Json).map(([method, entry]) => [entry.operationId, method.toUpperCase(), path]),
    )
    expect(documented.sort()).toEqual(operations.map(([id, o]) => [id, o.method, `/api/v1${o.path}`]).sort())
  })

  test.each(operations)('%s requires the credential and the permission of its policy', (_, operation) => {
    const entry = entryOf(operation)
    const schemes = (entry['security'] as Json[]).flatMap(Object.keys)
    const { access, cookie } = operation
    if (cookie === 'takes') expect(schemes).toEqual(['refreshCookie'])
    else if (access === 'public') expect(schemes).toEqual([])
    else expect(schemes).toEqual([access === 'sse' ? 'sseToken' : 'bearer'])
    expect(entry['x-permission']).toBe(access.includes(':') ? access : undefined)
    expect(entry['x-audit-action']).toBe(operation.audit)
  })

  test.each(operations)('%s lists its error codes under their status', (_, operation) => {
    const listed: string[] = []
    for (const [status, response] of Object.entries(entryOf(operation)['responses'] as Json)) {
      const shared =
        response.$ref === undefined ? response : document['components'].responses[response.$ref.split('/').at(-1)]
      expect(shared.headers).toHaveProperty('X-Request-Id')
      if (codesOf(shared).includes('SERVICE_UNAVAILABLE')) expect(shared.headers).toHaveProperty('Retry-After')
      if (status === '429') expect(shared.headers).toMatchObject({ 'Retry-After': {}, 'X-RateLimit-Remaining': {} })
      for (const code of codesOf(shared)) {
        expect(String(ERROR_CODES[code])).toBe(status)
        listed.push(code)
      }
      const isKnown = status in operation.responses || ['304', '429'].includes(status) || codesOf(shared).length > 0
      expect({ status, isKnown }).toEqual({ status, isKnown: true })
    }
    expect(listed.sort()).toEqual(errorCodesOf(operation).sort())
    expect('429' in entryOf(operation)['responses']).toBe(!operation.path.startsWith('/health'))
  })
})

describe('the parts for client generators', () => {
  test('every reference has a target, and every named schema has a reference', () => {
    const references = [...places(document)].flatMap(([at, { $ref }]) => (typeof $ref === 'string' ? [[at, $ref]] : []))
    expect(references.length).toBeGreaterThan(100)
    for (const [at, reference = ''] of references) {
      let found: unknown = document
      for (const key of reference.slice(2).split('/')) found = (found as Json | undefined)?.[key]
      expect({ at, reference, found: found !== undefined }).toEqual({ at, reference, found: true })
    }
    const used = new Set(references.map(([, reference]) => reference))
    const idle = Object.keys(document['components'].schemas).filter((name) => !used.has(`#/components/schemas/${name}`))
    expect(idle).toEqual([])
  })

  test('bodies, answers and list items are named schemas', () => {
    const nameless: string[] = []
    const isNamed = (schema: Json): boolean =>
      schema['$ref'] !== undefined || (schema['type'] === 'array' && isNamed(schema['items']))
    for (const [id, operation] of operations) {
      if (operation.tag === 'service') continue
      const { requestBody, responses } = entryOf(operation)
      const answers = Object.keys(operation.responses).map((status) => responses[status])
      for (const { content = {} } of [requestBody ?? {}, ...answers] as Json[]) {
        const schema: Json | undefined = content['application/json']?.schema
        if (schema === undefined) continue
        const isPage = schema['properties']?.meta !== undefined && isNamed(schema['properties'].data)
        if (!isNamed(schema) && !isPage) nameless.push(id)
      }
    }
    expect(nameless).toEqual([])
  })

  test('no schema uses a condition for alternatives', () => {
    expect([...places(document['components'])].filter(([, value]) => 'if' in value)).toEqual([])
    expect(document['components'].schemas.TargetMode.oneOf).toHaveLength(2)
    expect(document['components'].schemas.ConnectionInput.oneOf.length).toBeGreaterThanOrEqual(2)
  })

  test.each(Object.entries(EXAMPLES))('the example of %s is a valid body', (id, example) => {
    const operation: Operation = OPERATIONS[id as keyof typeof OPERATIONS]
    if (operation.body === undefined) throw new Error(`${id} has no body`)
    expect(compile(operation.body)(example)).toEqual([])
    expect(entryOf(operation)['requestBody'].content['application/json'].example).toEqual(example)
  })
})
