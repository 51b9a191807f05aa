// The form of a deployment: what it sends, how it is filled, and the command that does the same.
import { expect, test } from '@jest/globals'
import { deployCommand } from '../src/screens/deploy/deploy-command.ts'
import { countingRequest, deploymentRequest } from '../src/screens/deploy/deployment-request.ts'
import { withoutSecrets } from '../src/screens/deploy/drafts.ts'
import { formFromAddress, formFromDeployment, formFromPlace } from '../src/screens/deploy/form.ts'
import { strategyOf } from '../src/screens/deploy/strategy-text.ts'
import { askedAgain, isList, type Variable, valueProblem } from '../src/screens/deploy/variable-values.ts'

const VARIABLES = [
  { name: 'colour', required: true },
  { name: 'copies', type: 'number' },
  { name: 'fast', type: 'boolean' },
  { name: 'names', type: 'json', default: ['a'] },
  { name: 'token', sensitive: true, prompted: true },
] as Variable[]

const form = {
  ...formFromAddress({ kind: 'action', id: 'source', targets: 'one,two,one,', version: ' ^1.0.0 ' }),
  values: { colour: 'red', copies: '3', fast: 'false', names: '["b"]', token: "it's", unknown: 'x' },
}

test('a request holds what was chosen, each value with the type of its variable', () => {
  expect(deploymentRequest(form, VARIABLES, [])).toEqual({
    action_id: 'source',
    version_requirement: '^1.0.0',
    target_ids: ['one', 'two'],
    variables: { colour: 'red', copies: 3, fast: false, names: ['b'] },
    prompted_values: { token: "it's" },
    target_mode: 'sequential',
    failure_strategy: 'stop_on_first_failure',
    rollback_strategy: 'none',
  })
  const tags = [
    { row: 0, key: 'role', value: 'web' },
    { row: 1, key: '', value: 'left out' },
  ]
  const rolling = { targetMode: 'rolling', batchSize: '4', priority: '7', bypassCache: true } as const
  expect(deploymentRequest({ ...form, targetsBy: 'tags', tags, ...rolling }, VARIABLES, [])).toMatchObject({
    target_tags: [{ key: 'role', value: 'web' }],
    target_tags_match_all: false,
    target_mode: { rolling: { batch_size: 4 } },
    priority: 7,
    bypass_cache: true,
  })
})

test('there is no request without a source or targets, and one that only counts has values for what is required', () => {
  expect(deploymentRequest({ ...form, sourceId: null }, VARIABLES, [])).toBeNull()
  expect(deploymentRequest({ ...form, targetIds: [] }, VARIABLES, [])).toBeNull()
  expect(countingRequest({ ...form, values: {} }, VARIABLES, [])).toMatchObject({
    variables: { colour: 'placeholder' },
  })
})

test('all of an environment are its targets, and none are no request', () => {
  const all = {
    ...formFromAddress({ kind: 'action', id: 'source', environment: 'staging' }),
    values: { colour: 'red' },
  }
  expect(deploymentRequest(all, VARIABLES, ['a', 'b'])).toMatchObject({
    target_ids: ['a', 'b'],
    environment_id: 'staging',
  })
  expect(deploymentRequest(all, VARIABLES, [])).toBeNull()
})

test('numbers and JSON are checked as they are typed', () => {
  const problems = ['x', '1000', '', undefined].map((raw) => valueProblem({ name: 'n', type: 'number' }, raw))
  expect(problems).toEqual(['Must be a number', null, null, null])
  for (const raw of ['1.10', '1e3', '1001234567890123457']) {
    expect(valueProblem({ name: 'n', type: 'number' }, raw)).toMatch('would lose digits')
    expect(valueProblem({ name: 'j', type: 'json' }, `{"1.10": ["1.10", ${raw}]}`)).toMatch('would lose digits')
  }
  expect(valueProblem({ name: 'j', type: 'json' }, '{')).toBe('Must be JSON')
  expect(VARIABLES.filter(isList).map(({ name }) => name)).toEqual(['names'])
})

test('a form is filled from a deployment without its version, its secrets, and the tenant of the user', () => {
  const config = {
    target_ids: [],
    target_tags: [{ key: 'role', value: 'web' }],
    variables: { colour: 'red', copies: 3, names: ['b'], token: '***' },
    environment_id: null,
    tenant_id: 'mine',
    target_mode: { rolling: { batch_size: 4 } },
    failure_strategy: 'continue_on_failure',
    rollback_strategy: 'none',
    priority: 0,
  }
  const deployment = { config, plan: null, source_type: 'action', action_id: 'source' } as never
  expect(formFromDeployment(deployment, 'mine')).toMatchObject({
    sourceId: 'source',
    version: '',
    targetsBy: 'tags',
    tags: [{ key: 'role', value: 'web' }],
    values: { colour: 'red', copies: '3', names: ['b'] },
    asked: ['token'],
    tenantId: null,
    targetMode: 'rolling',
    batchSize: 4,
    failureStrategy: 'continue_on_failure',
    priority: '',
  })
  expect(formFromDeployment(deployment, null)).toMatchObject({ tenantId: 'mine' })
})

test('secrets of the earlier deployment are asked for until they are typed, and only what is no secret is stored', () => {
  const filled = { ...form, asked: ['token'], values: {} }
  expect(askedAgain(filled)).toEqual(['token'])
  expect(askedAgain({ ...filled, values: { token: 'new' } })).toEqual([])
  const stored = withoutSecrets({ ...form, asked: [] }, new Set(['colour']))
  expect(stored.values).toEqual({ colour: 'red' })
  expect(stored.asked).toEqual(expect.arrayContaining(['token', 'copies']))
})

test('values of the earlier deployment that the version does not declare are repeated as they were', () => {
  const filled = { ...form, repeated: { colour: 'red', retries: 3 } }
  expect(deploymentRequest(filled, VARIABLES, [])?.variables).toMatchObject({ colour: 'red', retries: 3 })
})

test('a link to a place takes strategy, tags and variables of the last deployment there, and its own version and tenant', () => {
  const config = {
    target_ids: ['one'],
    target_tags: [],
    variables: { colour: 'red' },
    environment_id: 'staging',
    tenant_id: 'other',
    target_mode: 'parallel',
    failure_strategy: 'stop_on_first_failure',
    rollback_strategy: 'none',
    priority: 0,
  }
  const last = { config, plan: null, source_type: 'action', action_id: 'source' } as never
  const search = { kind: 'action', id: 'source', version: '2.0.0', environment: 'staging' }
  // The last deployment may have been a retry on one target.
  expect(formFromPlace({ search, ownTenant: null, last })).toMatchObject({
    ...{ version: '2.0.0', targetsBy: 'environment', targetIds: [], environmentId: 'staging', tenantId: null },
    ...{ values: { colour: 'red' }, targetMode: 'parallel' },
  })
  const tag = { key: 'role', value: 'web' }
  const byTag = { config: { ...config, target_ids: [], target_tags: [tag] }, source_type: 'action' } as never
  expect(formFromPlace({ search, ownTenant: null, last: byTag })).toMatchObject({ targetsBy: 'tags', tags: [tag] })
  const named = { ...search, targets: 'two', tenant: 'acme' }
  expect(formFromPlace({ search: named, ownTenant: null, last })).toMatchObject({
    ...{ targetsBy: 'ids', targetIds: ['two'], tenantId: 'acme' },
  })
})

test('the command quotes what a shell would read, and leaves secrets out', () => {
  const request = deploymentRequest(form, VARIABLES, [])
  expect(request && deployCommand('deploy', "Greet $(id) 'all'", request, VARIABLES)).toBe(
    `slipway deploy 'Greet $(id) '\\''all'\\''' --kind action --source-version ^1.0.0 -t one -t two --var colour=red ` +
      `--var copies:=3 --var fast:=false --var 'names:=["b"]' --prompted token="$TOKEN"`,
  )
})

test('a strategy is a sentence', () => {
  expect(strategyOf({})).toBe('One target after another; the first failure stops it; nothing is rolled back.')
  const rolling = { target_mode: { rolling: { batch_size: 4 } }, rollback_strategy: 'all_executed' } as const
  expect(strategyOf(rolling)).toMatch(/^4 targets at a time; .*; after a failure every target is rolled back\.$/)
})
