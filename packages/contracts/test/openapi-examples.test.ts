// Checks that everything in the OpenAPI document has a description and a valid example.
import { expect, test } from '@jest/globals'
import { compile, OPERATIONS, openApiDocument, type TSchema } from '@slipway/contracts'

// biome-ignore lint/suspicious/noExplicitAny: the test reads many parts of a document of another standard
type Json = Record<string, any>

const document = JSON.parse(JSON.stringify(openApiDocument('1.2.3'))) as Json

/** Keywords whose values contain no schemas. */
const VALUES = new Set(['examples', 'example', 'default', 'enum', 'const'])

function* schemasIn(value: unknown, path: string): Generator<[path: string, schema: Json]> {
  if (typeof value !== 'object' || value === null) return
  yield [path, value as Json]
  for (const [key, item] of Object.entries(value)) {
    if (!VALUES.has(key)) yield* schemasIn(item, `${path}/${key}`)
  }
}

const properties: [path: string, schema: Json][] = [...schemasIn(document, '#')].flatMap(([path, schema]) =>
  schema['type'] === 'object' && typeof schema['properties'] === 'object'
    ? Object.entries(schema['properties'] as Json).map(([name, one]): [string, Json] => [`${path}/${name}`, one])
    : [],
)
const operations = Object.values(document['paths'] as Json).flatMap((path) => Object.values(path as Json)) as Json[]

/** The schema with every reference replaced by its target. */
function inlined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inlined)
  if (typeof value !== 'object' || value === null) return value
  const { $ref, ...rest } = value as Json
  if (typeof $ref === 'string') return inlined(document['components'].schemas[$ref.split('/').at(-1) ?? ''])
  return Object.fromEntries(Object.entries(rest).map(([key, one]) => [key, VALUES.has(key) ? one : inlined(one)]))
}
const problemsOf = (schema: Json, example: unknown) => compile(inlined(schema) as TSchema)(example)

const isDescribed = (text: unknown) => typeof text === 'string' && /^.{5,}/s.test(text)

test('every property has a description', () => {
  expect(properties.length).toBeGreaterThan(500)
  expect(properties.filter(([, schema]) => !isDescribed(schema['description'])).map(([path]) => path)).toEqual([])
})

test('every property has valid examples', () => {
  const wrong = properties.flatMap(([path, schema]): unknown[] => {
    const examples: unknown[] = schema['examples'] ?? []
    if (examples.length === 0) return [{ path, problem: 'no example' }]
    return examples.flatMap((example) => problemsOf(schema, example).map((problem) => ({ path, example, problem })))
  })
  expect(wrong).toEqual([])
})

test('every operation has a description that differs from its summary', () => {
  expect(operations).toHaveLength(Object.keys(OPERATIONS).length)
  const bare = operations.filter(({ description, summary }) => !isDescribed(description) || description === summary)
  expect(bare.map(({ operationId }) => operationId)).toEqual([])
})

test('every parameter, body and answer of an operation has a valid example', () => {
  const wrong: unknown[] = []
  const shared = (one: Json): Json =>
    one['$ref'] ? document['components'].responses[one['$ref'].split('/').at(-1)] : one
  for (const { operationId, parameters, requestBody, responses } of operations) {
    const bodies = [requestBody ?? {}, ...Object.values(responses as Json).map(shared)] as Json[]
    const media = bodies.flatMap(({ content = {} }) => Object.values(content as Json)) as Json[]
    if (parameters.length + media.length === 0) wrong.push({ operationId, problem: 'nothing to show' })
    for (const one of parameters) if (!isDescribed(one.description)) wrong.push({ operationId, parameter: one.name })
    for (const { schema, example, name } of [...parameters, ...media]) {
      if (example === undefined) wrong.push({ operationId, name, problem: 'no example' })
      else if (schema) wrong.push(...problemsOf(schema, example).map((problem) => ({ operationId, name, problem })))
    }
  }
  expect(wrong).toEqual([])
})
