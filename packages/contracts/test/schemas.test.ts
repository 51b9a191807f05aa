import { describe, expect, test } from '@jest/globals'
import { Type } from '@sinclair/typebox'
import {
  COMMANDS,
  CreateDeployment,
  CreateTarget,
  compile,
  EVENTS,
  EventBatch,
  FORMAT_SENTENCES,
  literals,
  Nullable,
  OPERATIONS,
  type Operation,
  openApiDocument,
  PATTERN_SENTENCES,
  RunSpec,
  Strict,
  Variables,
  validateBody,
} from '@slipway/contracts'
import { BUILT_IN_ROLES, PERMISSIONS } from '@slipway/domain'

/** The places of a schema with lists or maps of any size. */
function withoutLimit(schema: unknown, place: string): string[] {
  if (schema === null || typeof schema !== 'object') return []
  const node = { maxItems: undefined, maxProperties: undefined, ...schema }
  const isOpen =
    ('items' in node && node.maxItems === undefined) ||
    ('patternProperties' in node && !('properties' in node) && node.maxProperties === undefined)
  return [
    ...(isOpen ? [place] : []),
    ...Object.entries(schema).flatMap(([key, item]) => withoutLimit(item, `${place}/${key}`)),
  ]
}

/** The keywords, formats and patterns without a sentence. */
function listUnsaid(schema: unknown): string[] {
  if (schema === null || typeof schema !== 'object') return []
  return Object.entries(schema).flatMap(([keyword, value]): string[] => {
    if (keyword === 'properties' || keyword === 'patternProperties') return Object.values(value).flatMap(listUnsaid)
    if (keyword === 'format') return value in FORMAT_SENTENCES ? [] : [value]
    if (keyword === 'pattern') return value in PATTERN_SENTENCES ? [] : [value]
    if (WITHOUT_RULE.has(keyword)) return []
    return SAID.has(keyword) || /^\d+$/.test(keyword) ? listUnsaid(value) : [keyword]
  })
}
const WITHOUT_RULE = new Set([
  'description',
  'examples',
  'default',
  'title',
  'deprecated',
  'writeOnly',
  'enum',
  'required',
])
const SAID = new Set([
  ...['type', 'const', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'uniqueItems'],
  ...['minProperties', 'maxProperties', 'additionalProperties', 'items', 'anyOf', 'oneOf', 'allOf', 'discriminator'],
  ...['if', 'then', 'else', 'propertyName'],
])

const operations = Object.entries(OPERATIONS) as [string, Operation][]

describe('every schema compiles', () => {
  test.each(operations)('%s', (_, operation) => {
    if (operation.query !== undefined) compile(operation.query)
    if (operation.body !== undefined) compile(operation.body)
    for (const response of Object.values(operation.responses)) {
      if (response !== null && typeof response !== 'string') compile(response)
    }
  })

  test('messages and the instance protocol', () => {
    for (const { body } of [...Object.values(COMMANDS), ...Object.values(EVENTS)]) compile(body)
    compile(RunSpec)
    compile(EventBatch)
    expect(validateBody('no.such.message', {})).toEqual(['unknown message type "no.such.message"'])
    expect(validateBody('slot.freed', {})).toEqual(['/instance_id is required'])
  })
})

test('an event is validated against the schema of its own type', () => {
  const problemsOf = compile(EventBatch)
  const events = [{ type: 'rolling_back' }, { type: 'exploded' }, {}, { type: 5 }]
  expect(problemsOf({ epoch: 1, first_event: 0, events })).toEqual([
    { path: '/events/0/at', message: 'is required' },
    { path: '/events/1/type', message: expect.stringMatching(/^must be one of: step_started, .*log/) },
    { path: '/events/2/type', message: 'is required' },
    { path: '/events/3/type', message: 'a text is expected, this is a number' },
  ])
})

describe('the table of operations', () => {
  test('names each method and path once, and only known permissions', () => {
    const places = operations.map(([, { method, path }]) => `${method} ${path}`)
    expect(new Set(places).size).toBe(places.length)
    for (const [, { access }] of operations) {
      if (access.includes(':')) expect(PERMISSIONS).toContain(access)
    }
  })

  test('equals the operations of the OpenAPI document', () => {
    const document = openApiDocument('1.2.3') as { paths: Record<string, Record<string, { operationId: string }>> }
    const documented = Object.values(document.paths).flatMap((path) => Object.values(path).map((o) => o.operationId))
    expect(documented.sort()).toEqual(operations.map(([id]) => id).sort())
  })

  test('gives operators the permissions that they need and no others', () => {
    expect(BUILT_IN_ROLES.operator.permissions).toEqual(
      expect.arrayContaining(['deployments:create', 'deployments:cancel', 'targets:update', 'freezes:delete']),
    )
    for (const forbidden of ['users:read', 'audit:read', 'tenants:create', 'environments:update', 'webhooks:create']) {
      expect(BUILT_IN_ROLES.operator.permissions).not.toContain(forbidden)
    }
    expect(BUILT_IN_ROLES.user.permissions.every((p) => p.endsWith(':read'))).toBe(true)
  })
})

describe('problems', () => {
  const problems = compile(CreateDeployment)
  const paths = (value: unknown) => problems(value).map((p) => p.path)

  test('are all reported at once, each with its path', () => {
    expect(paths({ priority: 101, max_retries: 1.5, targets_ids: [], target_tags: [{ key: 'a' }] }).sort()).toEqual([
      '/max_retries',
      '/priority',
      '/target_tags/0/value',
      '/targets_ids',
    ])
  })

  test('refer to the form of the target mode that was used', () => {
    expect(problems({ target_mode: 'all' })).toEqual([
      { path: '/target_mode', message: 'must be one of: sequential, parallel' },
    ])
    expect(paths({ target_mode: { rolling: { batch_size: 0 } } })).toEqual(['/target_mode/rolling/batch_size'])
    expect(paths({ target_mode: { rolling: { batch_size: 2 } } })).toEqual([])
  })

  test('say what would be valid, once for each path', () => {
    const messages = (value: unknown) => problems(value).map(({ path, message }) => `${path} ${message}`)
    expect(
      messages({ action_id: 'no', failure_strategy: null, override_reason: ' \t', variables: { 'a-b': 1 } }),
    ).toEqual([
      '/action_id must be the id of an action (a UUID or a SqId)',
      '/failure_strategy must be one of: stop_on_first_failure, continue_on_failure, ignore_failures',
      '/variables/a-b is not a name for a variable: use letters, digits and _, at most 128 characters',
      '/override_reason must not be blank',
    ])
  })

  test.each([
    [Type.Array(Type.String()), 'web', 'a list is expected, this is a text'],
    [Type.Object({}), ['web'], 'an object with fields is expected, this is a list'],
    [Type.Integer(), 1.5, 'a whole number is expected, this is a number'],
    [Nullable(Type.String()), 5, 'a text or null is expected, this is a number'],
    [Nullable(Type.String({ minLength: 2 })), 'a', 'needs at least 2 characters'],
    [Type.Integer({ minimum: 1, maximum: 9 }), 10, 'must be from 1 to 9, this is 10'],
    [Type.Integer({ minimum: 1 }), 0, 'must be at least 1, this is 0'],
    [Type.Array(Type.String(), { minItems: 1 }), [], 'needs at least one entry'],
    [Type.Array(Type.String(), { uniqueItems: true }), ['a', 'b', 'a'], 'has the same entry twice: entries 1 and 3'],
    [literals(['sequential', 'parallel']), 'paralel', 'must be one of: sequential, parallel; did you mean parallel?'],
    [literals(PERMISSIONS), 'deployment:create', 'is not a known value; did you mean deployments:create?'],
    [
      Strict({ greeting: Type.Optional(Type.String()) }),
      { greting: '' },
      'is not a known field; did you mean greeting?',
    ],
  ])('are sentences of people: %#', (schema, value, sentence) => {
    expect(compile(schema)(value).map(({ message }) => message)).toEqual([sentence])
  })

  test('have a sentence for each keyword, format and pattern of a request', () => {
    const wanting = operations.flatMap(([, { body, query }]) => [body, query].flatMap((schema) => listUnsaid(schema)))
    expect([...new Set(wanting)]).toEqual([])
  })

  test('refer to the type of the connection', () => {
    const target = compile(CreateTarget)
    const connection = (value: unknown) => target({ name: 'a', connection: value }).map((p) => p.path)
    expect(connection({ type: 'local' })).toEqual([])
    expect(connection({ type: 'local', host: 'a' })).toEqual(['/connection/host'])
    const simulated = { duration_ms: 0, exit_code: 255, failure_rate: 1, output_lines: 0, drop_rate: 0.5 }
    expect(connection({ type: 'simulated', ...simulated })).toEqual([])
    expect(connection({ type: 'simulated', failure_rate: 1.1, exit_code: 256, duration_ms: 0.5, host: 'a' })).toEqual(
      expect.arrayContaining(['/connection/failure_rate', '/connection/exit_code', '/connection/duration_ms']),
    )
    expect(connection({ type: 'ssh', host: 'a', port: 0 }).sort()).toEqual(['/connection/port', '/connection/username'])
    expect(connection({ type: 'telnet' })).toEqual(['/connection/type'])
  })

  test('count the characters of a long text, not its UTF-16 units', () => {
    const problemsOf = compile(Type.String({ maxLength: 3 }))
    const tooLong = [{ path: '', message: 'may have at most 3 characters' }]
    for (const text of ['', 'abc', '🚢🚢🚢', 'a\ud83db']) expect(problemsOf(text)).toEqual([])
    for (const text of ['abcd', '🚢🚢🚢🚢', 'ab🚢c', 'abc\ud83d']) expect(problemsOf(text)).toEqual(tooLong)
  })

  test('of the content are not looked for where the size is wrong', () => {
    const webhook = compile(
      Type.Array(Type.String({ maxLength: 3, pattern: '^a*$' }), { maxItems: 2, uniqueItems: true }),
    )
    const map = compile(Variables)
    expect(webhook(['b', 'aaaa'])).toHaveLength(2)
    expect(webhook([1, 1, 1, 1])).toEqual([{ path: '', message: 'may have at most 2 entries, this has 4' }])
    expect(webhook(['bbbb'])).toEqual([{ path: '/0', message: 'may have at most 3 characters' }])
    expect(map(Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`-${index}`, 1])))).toEqual([
      { path: '', message: 'may have at most 1000 fields, this has 1001' },
    ])
  })

  test('with unknown fields name the first hundred and count the others', () => {
    const found = problems(Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`field_${index}`, 1])))
    expect(found).toHaveLength(100)
    expect(found[99]).toEqual({ path: '/field_99', message: 'is not a known field', others: 50 })
  })

  test('cost a bounded amount of work: each list and map of a body has a limit', () => {
    const open = operations.flatMap(([id, { body }]) => (body === undefined ? [] : withoutLimit(body, id)))
    expect(open).toEqual([])
  })

  test('have an empty path for values that are no objects', () => {
    for (const value of [[], 1, 'text', null]) expect(paths(value)).toEqual([''])
  })
})
