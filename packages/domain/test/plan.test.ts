import { describe, expect, test } from '@jest/globals'
import {
  buildPlan,
  mapSensitiveValues,
  type PlanInput,
  Problem,
  type PublishedAction,
  pinsOf,
  resolvedVariables,
  resolveSource,
  type SequenceDefinition,
  type SolutionDefinition,
  type SourceCatalog,
  targetSummary,
} from '../src/index.ts'

/** A version of an action. Each template in its script is a word of a shell. */
const script = (text: string, more: Partial<PublishedAction> = {}): PublishedAction => ({
  type: 'script',
  script: text,
  places: { script: { places: wordsIn(text), refused: [], documents: [] } },
  ...more,
})

const wordsIn = (text: string) =>
  Array.from(text.matchAll(/\{\{ (\w+) \}\}/g), ({ 0: word, 1: name = '', index: start }) => ({
    name,
    start,
    end: start + word.length,
    encoding: 'shell-word' as const,
    line: 1,
    column: start + 1,
  }))

const record = <D>(id: string, versions: Record<string, D>, tenant_id: string | null = null) => ({
  id,
  name: `${id} name`,
  tenant_id,
  versions: Object.entries(versions).map(([version, definition]) => ({ version, definition })),
})

const mapOf = <T extends { id: string }>(...records: T[]) => new Map(records.map((each) => [each.id, each]))

const catalog: SourceCatalog = {
  actions: mapOf(
    record<PublishedAction>('unpack', {
      '1.0.0': script('old'),
      '1.2.0': script('tar {{ path }}', { timeout_seconds: 60, variables: [{ name: 'path', default: '/srv' }] }),
      '2.0.0-beta.1': script('beta'),
    }),
    record<PublishedAction>('start', {
      '1.0.0': script('start {{ port }} {{ nothing }}', {
        rollback: { script: 'stop' },
        max_retries: 2,
        variables: [
          { id: '8a4f5b8e-0000-4000-8000-000000000001', name: 'port', type: 'number', required: true },
          { name: 'token', sensitive: true },
        ],
      }),
    }),
  ),
  sequences: mapOf(
    record<SequenceDefinition>('web', {
      '1.0.0': {
        actions: [
          { action_id: 'unpack', version_requirement: '^1.0.0' },
          { action_id: 'start', variables: { port: 80 } },
        ],
      },
    }),
    record<SequenceDefinition>('empty', { '1.0.0': { actions: [] } }),
    record<SequenceDefinition>('broken', {
      '1.0.0': { actions: [{ action_id: 'unpack', version_requirement: '^9' }, { action_id: 'gone' }] },
    }),
  ),
  solutions: mapOf(
    record<SolutionDefinition>('shop', {
      '3.1.0': {
        sequences: [
          { sequence_id: 'web', variables: { path: '/opt' } },
          { sequence_id: 'web', variables: { port: 81 } },
        ],
        variables: [{ name: 'path', default: '/solution' }],
      },
    }),
  ),
}

const target = (id: string, more = {}) => ({
  id,
  name: id,
  status: 'online' as const,
  awaits_probe: false,
  variables: {},
  sensitive: [],
  environment: null,
  ...more,
})

const input = (change: Partial<PlanInput> = {}): PlanInput => ({
  command_id: 'command',
  source: resolveSource({ type: 'solution', id: 'shop' }, undefined, catalog),
  targets: [target('t1'), target('t2')],
  tenant: null,
  environment: null,
  request: {},
  ...change,
})

function problemOf(act: () => unknown): Problem {
  try {
    act()
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error('Expected a problem')
}
const errorsOf = (change: Partial<PlanInput>) => problemOf(() => buildPlan(input(change))).details?.['errors']

describe('resolveSource', () => {
  test('uses the latest version of every sequence and action of a solution', () => {
    const source = resolveSource({ type: 'solution', id: 'shop' }, undefined, catalog)
    expect(source).toMatchObject({ name: 'shop name', version: '3.1.0' })
    const places = source.actions.map((each) => [
      each.sequence_order,
      each.action_order,
      each.action_id,
      each.action_version,
    ])
    expect(places).toEqual([
      [0, 0, 'unpack', '1.2.0'],
      [0, 1, 'start', '1.0.0'],
      [1, 0, 'unpack', '1.2.0'],
      [1, 1, 'start', '1.0.0'],
    ])
  })

  test('puts a single action into a sequence of its own', () => {
    const source = resolveSource({ type: 'action', id: 'unpack' }, '1.0.x', catalog)
    expect(source.actions).toHaveLength(1)
    expect(source.actions[0]).toMatchObject({
      sequence_id: 'unpack',
      sequence_name: 'unpack name',
      sequence_version: '1.0.0',
      action_version: '1.0.0',
      sequence_order: 0,
      action_order: 0,
    })
  })

  test('lists the existing versions if none meets the requirement', () => {
    const problem = problemOf(() => resolveSource({ type: 'action', id: 'unpack' }, '^9', catalog))
    expect(problem.code).toBe('VALIDATION_ERROR')
    expect(problem.details?.['errors']).toEqual([
      {
        path: '/version_requirement',
        message: 'action "unpack name" has no version ^9; there are: 2.0.0-beta.1, 1.2.0, 1.0.0',
      },
    ])
    const malformed = problemOf(() => resolveSource({ type: 'action', id: 'unpack' }, 'newest', catalog))
    expect(malformed.details?.['errors']).toMatchObject([{ path: '/version_requirement' }])
  })

  test('reports all problems of nested sources', () => {
    const problem = problemOf(() => resolveSource({ type: 'sequence', id: 'broken' }, undefined, catalog))
    expect(problem.details?.['errors']).toMatchObject([{ path: '/sequence_id' }, { path: '/sequence_id' }])
  })

  test('reports an unknown source as missing', () => {
    const problem = problemOf(() => resolveSource({ type: 'solution', id: 'nope' }, undefined, catalog))
    expect(problem).toMatchObject({ status: 404, details: { missing: [{ path: '/solution_id', id: 'nope' }] } })
  })

  test('uses the versions of the original for a redeploy', () => {
    const { plan } = buildPlan(input())
    const later: SourceCatalog = {
      ...catalog,
      actions: mapOf(
        record<PublishedAction>('unpack', { '1.2.0': script('tar'), '1.9.0': script('newer') }),
        ...[...catalog.actions.values()].filter(({ id }) => id !== 'unpack'),
      ),
    }
    const source = resolveSource({ type: 'solution', id: 'shop' }, undefined, later, pinsOf(plan))
    expect(source.actions[0]?.action_version).toBe('1.2.0')
    expect(resolveSource({ type: 'solution', id: 'shop' }, undefined, later).actions[0]?.action_version).toBe('1.9.0')
    const without = { ...catalog, actions: mapOf() as SourceCatalog['actions'] }
    const gone = problemOf(() => resolveSource({ type: 'solution', id: 'shop' }, undefined, without, pinsOf(plan)))
    expect(gone.code).toBe('CONFLICT')
  })
})

describe('buildPlan', () => {
  test('sets the defaults', () => {
    const { plan } = buildPlan(input())
    expect(plan.options).toEqual({
      target_mode: 'sequential',
      failure_strategy: 'stop_on_first_failure',
      rollback_strategy: 'none',
      priority: 0,
      timeout_seconds: 3600,
      max_retries: 0,
      deployment_timeout_seconds: 0,
      bypass_cache: false,
    })
    expect(
      plan.actions.map(({ timeout_seconds, max_retries, has_rollback }) => [
        timeout_seconds,
        max_retries,
        has_rollback,
      ]),
    ).toEqual([
      [60, 0, false],
      [3600, 2, true],
      [60, 0, false],
      [3600, 2, true],
    ])
    expect(plan.sensitive).toEqual(['token'])
    expect(plan.sealed_under).toBe('command')
  })

  test('prefers values of the request to those of the action', () => {
    const { plan } = buildPlan(input({ request: { timeout_seconds: 5, max_retries: 1 } }))
    expect(plan.actions.every((action) => action.timeout_seconds === 5 && action.max_retries === 1)).toBe(true)
  })

  test('keeps the layers of variables separate', () => {
    const { plan } = buildPlan(
      input({
        tenant: { id: 'te', name: 'Tenant', variables: { a: 'tenant', b: 'tenant' }, sensitive: [] },
        environment: { id: 'en', name: 'Production', tenant_id: 'te', variables: { b: 'environment' }, sensitive: [] },
        targets: [target('t1', { variables: { port: 9000 } }), target('t2')],
        request: { variables: { c: 'x', port: 1 }, prompted_values: { '8A4F5B8E-0000-4000-8000-000000000001': 7 } },
      }),
    )
    expect(plan.actions.map(({ variables }) => variables)).toEqual([
      { path: '/opt' },
      { path: '/opt', port: 80 },
      { path: '/solution', port: 81 },
      { path: '/solution', port: 81 },
    ])
    expect(plan.shared_variables).toEqual({ a: 'tenant', b: 'environment' })
    expect(plan.override_variables).toEqual({ c: 'x', port: 7 })
    expect(plan.targets[0]?.variables).toEqual({ port: 9000 })
    expect(resolvedVariables(plan)).toEqual({ a: 'tenant', b: 'environment', c: 'x', path: '/solution', port: 7 })
  })

  describe('the environments of targets', () => {
    const production = { id: 'p', name: 'production', variables: { port: 1, nothing: 'x' }, sensitive: ['nothing'] }
    const staging = { id: 's', name: 'staging', variables: { port: 2 }, sensitive: [] }
    const targets = [
      target('t1', { environment: production }),
      target('t2', { environment: staging, variables: { port: 9 } }),
      target('t3', { environment: staging }),
      target('t4'),
    ]

    test('give variables to their targets only, below those of the target', () => {
      const { plan, warnings, request_warnings } = buildPlan(input({ targets }))
      expect(plan.targets.map(({ variables }) => variables)).toEqual([
        { port: 1, nothing: 'x' },
        { port: 9 },
        { port: 2 },
        {},
      ])
      expect(plan.sensitive).toEqual(expect.arrayContaining(['nothing']))
      expect(resolvedVariables(plan)).toEqual({ path: '/solution', port: 81 })
      expect(warnings[0]).toMatch(
        /^The targets lie in 2 environments \(1 in "production", 2 in "staging", 1 in none\):/,
      )
      expect(request_warnings[0]).toBe(warnings[0])
      expect(warnings[1]).toBe(
        'Action "start name": {{ nothing }} has no value on 3 of 4 targets and is left as it stands',
      )
    })

    test('do not count if the request names one', () => {
      const environment = { ...staging, tenant_id: null }
      const { plan, warnings } = buildPlan(input({ targets: targets.slice(1), environment }))
      expect(plan.targets.map(({ variables }) => variables)).toEqual([{ port: 9 }, {}, {}])
      expect(plan.shared_variables).toEqual({ port: 2 })
      expect(warnings).not.toContainEqual(expect.stringContaining('environments'))
    })

    test('are named once for a value of the wrong type', () => {
      const wrong = { ...staging, variables: { port: 'two' } }
      const errors = errorsOf({ targets: ['t1', 't2'].map((id) => target(id, { environment: wrong })) })
      expect(errors).toEqual([
        { path: '/target_ids', message: 'variable "port" of environment "staging" must be a number' },
      ])
    })
  })

  test('warns of targets that are not online and of templates without a value', () => {
    const targets = [
      target('t1', { status: 'offline' }),
      target('t2', { status: 'stale', variables: { nothing: 'x' } }),
    ]
    expect(buildPlan(input({ targets })).warnings).toEqual([
      'Target "t1" is offline: its steps will fail',
      'Action "start name": {{ nothing }} has no value on 1 of 2 targets and is left as it stands',
      'Target "t2" is stale',
    ])
    // A stale target says nothing about the request.
    expect(buildPlan(input({ targets })).request_warnings).toEqual([
      'Target "t1" is offline: its steps will fail',
      'Action "start name": {{ nothing }} has no value on 1 of 2 targets and is left as it stands',
    ])
    const places = ['e', 'f', 'e', null]
    const placed = [...targets, target('t3'), target('t4')].map((one, index) => ({
      ...one,
      environment_id: places[index] ?? null,
    }))
    expect(targetSummary(placed, new Map([['e', 'staging']]))).toEqual({
      total: 4,
      online: 2,
      offline: 1,
      stale: 1,
      environments: [
        { id: 'e', name: 'staging', count: 2 },
        { id: 'f', name: null, count: 1 },
        { id: null, name: null, count: 1 },
      ],
    })
  })

  test('does not warn of a new target that no probe has reached yet', () => {
    const targets = [target('t1', { status: 'offline', awaits_probe: true, variables: { nothing: 'x' } })]
    expect(buildPlan(input({ targets })).warnings).toEqual([])
  })

  test('names up to a hundred offline targets and counts the others', () => {
    const targets = Array.from({ length: 102 }, (_, index) => target(`t${index}`, { status: 'offline' }))
    const warnings = (count: number) =>
      buildPlan(input({ targets: targets.slice(0, count) })).warnings.filter(
        (it) => /arget/.test(it) && !/Action/.test(it),
      )
    expect([warnings(100).length, warnings(100).at(-1)]).toEqual([100, 'Target "t99" is offline: its steps will fail'])
    expect([warnings(102).length, warnings(102).at(-1)]).toEqual([101, '2 more targets are offline'])
  })

  test('warns of unused variables of the request only', () => {
    const [first] = input().source.actions
    if (!first) throw new Error('no action')
    const script = 'echo {{ templated }} $SLIPWAY_VAR_READ'
    const places = {
      script: { places: wordsIn(script), refused: [], documents: [] },
      rollback: { places: wordsIn('{{ undone }}'), refused: [], documents: [] },
    }
    const definition = { ...first.definition, script, rollback: { script: '{{ undone }}' }, places }
    const actions = [{ ...first, definition, definitions: [[{ name: 'declared' }]] }]
    const source = { ...input().source, actions }
    const variables = { templated: 1, Read: 2, undone: 3, declared: 'x', reads: 4 }
    expect(buildPlan(input({ source, request: { variables } })).warnings).toEqual([
      'Variable "reads" is given and not used: no definition, script or template names it',
    ])
    // Variables of tenants and targets serve many sources, so an unused one is no problem.
    expect(
      buildPlan(
        input({
          source,
          targets: [target('t1', { variables: { spare: 1 } })],
          request: { variables: { templated: 1, undone: 1 } },
        }),
      ).warnings,
    ).toEqual([])
  })

  test('refuses a value that a script would evaluate, from whichever layer it comes', () => {
    const [first] = input().source.actions
    if (!first) throw new Error('no action')
    const place = { name: 'n', start: 0, end: 7, encoding: 'shell-quoted' as const, line: 2, column: 3 }
    const places = {
      script: {
        places: [{ ...place, only: 'integer' as const }],
        refused: [{ name: 'code', line: 4, column: 1, reason: 'is evaluated by `eval`' }],
        documents: [],
      },
    }
    const actions = [{ ...first, definition: { ...first.definition, places }, definitions: [] }]
    const source = { ...input().source, actions }
    const refused = (more: Partial<PlanInput>) =>
      (errorsOf({ source, ...more }) as { path: string }[]).map(({ path }) => path)
    expect(refused({ request: { variables: { n: 'a[$(id)]' } } })).toEqual(['/variables/n'])
    expect(refused({ request: { variables: { code: 'x' } } })).toEqual(['/variables/code'])
    expect(refused({ targets: [target('t1', { variables: { n: '1.5' } })] })).toEqual(['/target_ids'])
    expect(() => buildPlan(input({ source, request: { variables: { n: 7 } } }))).not.toThrow()
    // The value of the request replaces that of the target.
    const targets = [target('t1', { variables: { n: 'a' } })]
    expect(() => buildPlan(input({ source, targets, request: { variables: { n: -3 } } }))).not.toThrow()
  })

  test('refuses a value, and values of a command together, that no program could get', () => {
    const kib = (count: number) => 'é'.repeat(count * 512)
    const source = resolveSource({ type: 'action', id: 'start' }, undefined, catalog)
    const refused = (more: Partial<PlanInput>) => errorsOf({ source, ...more }) as { path: string; message: string }[]
    const large = { variables: { large: kib(120) } }
    expect(refused({ request: { variables: { ...large.variables, port: 1 } } })).toEqual([
      { path: '/variables/large', message: expect.stringMatching(/^variable "large" has 122898 bytes with its name/) },
    ])
    const targets = [target('t1', { ...large, environment: null })]
    expect(refused({ targets, request: { variables: { port: 1 } } })).toMatchObject([
      { path: '/target_ids', message: expect.stringContaining('variable "large" of target "t1" has 122898 bytes') },
    ])
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`v${n}`, kib(100)]))
    const variables = { port: 1, ...many(10), last: kib(110) }
    expect(refused({ request: { variables } })).toMatchObject([
      { path: '/variables/last', message: expect.stringContaining('the largest is "last" with 112') },
    ])
    // The values of the request replace those of the target, so they do not count twice.
    const same = [target('t1', { variables: many(9) })]
    const request = { variables: { port: 1, ...many(9) } }
    expect(() => buildPlan(input({ source, targets: same, request }))).not.toThrow()
    const place = { name: 'v0', start: 0, end: 6, encoding: 'python-value' as const, line: 1, column: 1 }
    const places = { script: { places: [place, place], refused: [], documents: [] } }
    const actions = source.actions.map((action) => ({ ...action, definition: { ...action.definition, places } }))
    expect(refused({ source: { ...source, actions }, request })).toMatchObject([{ path: '/variables/v0' }])
  })

  test('counts the targets for which a required variable has no value', () => {
    const source = resolveSource({ type: 'action', id: 'start' }, undefined, catalog)
    const targets = [target('t1', { variables: { port: 1 } }), target('t2'), target('t3')]
    expect(errorsOf({ source, targets })).toEqual([
      { path: '/variables/port', message: 'required variable "port" has no value for 2 of 3 targets' },
    ])
    expect(() => buildPlan(input({ source, targets, request: { variables: { port: 1 } } }))).not.toThrow()
  })

  test('reports all problems at once', () => {
    const errors = errorsOf({
      environment: { id: 'en', name: 'Staging', tenant_id: 'other', variables: { port: 'x' }, sensitive: [] },
      targets: [target('t1', { variables: { token: 5 } }), target('t2')],
      request: { variables: { 'a-b': 1, Path: 'x' }, prompted_values: { unknown: 1 } },
      problems: [{ path: '/target_ids/2', message: 'target "x" is disabled' }],
    })
    expect((errors as { path: string }[]).map(({ path }) => path)).toEqual([
      '/target_ids/2',
      '/environment_id',
      '/prompted_values/unknown',
      '/variables/a-b',
      '/variables/Path',
      '/target_ids',
      '/environment_id',
    ])
  })

  test('does not validate values that a higher layer replaces', () => {
    const environment = { id: 'en', name: 'Staging', tenant_id: null, variables: { port: 'no number' }, sensitive: [] }
    expect(errorsOf({ environment })).toMatchObject([{ path: '/environment_id' }])
    expect(() => buildPlan(input({ environment, request: { variables: { port: 8 } } }))).not.toThrow()
    const targets = [target('t1', { variables: { port: 8 } })]
    expect(() => buildPlan(input({ environment, targets }))).not.toThrow()
  })

  test('refuses a source without actions or of another tenant, and a selection without targets', () => {
    const source = resolveSource({ type: 'sequence', id: 'empty' }, undefined, catalog)
    expect(errorsOf({ source })).toMatchObject([
      { path: '/sequence_id', message: 'sequence "empty name" has no actions' },
    ])
    expect(errorsOf({ targets: [] })).toMatchObject([{ path: '/target_ids' }])
    const foreign = { ...catalog, actions: mapOf(record('unpack', { '1.0.0': script('x') }, 'other')) }
    const theirs = resolveSource({ type: 'action', id: 'unpack' }, undefined, foreign)
    expect(errorsOf({ source: theirs })).toMatchObject([{ path: '/action_id' }])
    const tenant = { id: 'other', name: 'Other', variables: {}, sensitive: [] }
    expect(() => buildPlan(input({ source: theirs, tenant }))).not.toThrow()
  })

  test('treats a name that the tenant, the environment or a target marks as sensitive in every layer', () => {
    const tenant = { id: 'te', name: 'Tenant', variables: { a: 'of-tenant' }, sensitive: ['a'] }
    const environment = {
      id: 'en',
      name: 'Production',
      tenant_id: null,
      variables: { b: 'of-environment' },
      sensitive: ['b'],
    }
    const targets = [target('t1', { variables: { c: 'of-target' }, sensitive: ['c'] }), target('t2')]
    const { plan } = buildPlan(input({ tenant, environment, targets, request: { variables: { c: 'of-request' } } }))
    expect(plan.sensitive).toEqual(expect.arrayContaining(['a', 'b', 'c']))
    expect(resolvedVariables(plan)).toMatchObject({ a: '***', b: '***', c: '***' })
  })

  test('sensitive values in every layer can be sealed, and are masked in answers', () => {
    const targets = [target('t1', { variables: { token: 'of-target' } }), target('t2')]
    const { plan } = buildPlan(input({ targets, request: { variables: { token: 'of-request' } } }))
    const sealed = mapSensitiveValues(plan, (value) => ({ $sealed: `sealed ${value}` }))
    expect(sealed.targets[0]?.variables).toEqual({ token: { $sealed: 'sealed of-target' } })
    expect(sealed.override_variables).toEqual({ token: { $sealed: 'sealed of-request' } })
    expect(resolvedVariables(sealed)).toMatchObject({ token: '***' })
    expect(plan.override_variables).toEqual({ token: 'of-request' })
  })
})
