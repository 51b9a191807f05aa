import { describe, expect, test } from '@jest/globals'
import {
  checkValue,
  clashingNames,
  collectDefinitions,
  environmentName,
  environmentNameProblem,
  isVariableName,
  layerActionVariables,
  mask,
  toText,
  valuesFor,
} from '../src/index.ts'

test('names may contain only letters, digits and _', () => {
  for (const good of ['a', 'PORT_1', '1st', '_']) expect(isVariableName(good)).toBe(true)
  for (const bad of ['', 'a-b', 'a b', 'ä', 'a\n', 'a.b', 'x'.repeat(256)]) expect(isVariableName(bad)).toBe(false)
  expect(environmentName('db_Host')).toBe('SLIPWAY_VAR_DB_HOST')
})

test('an action may not set environment variables that change which program runs', () => {
  const refused = ['PATH', 'path', 'LD_PRELOAD', 'NODE_OPTIONS', 'BASH_ENV', 'IFS', 'ENV', 'SLIPWAY_VAR_X', 'DYLD_X']
  for (const name of refused) expect(environmentNameProblem(name)).toMatch('may not be set')
  for (const name of ['', '1A', 'A-B', 'A=B', 'A\0']) expect(environmentNameProblem(name)).toMatch('must be letters')
  for (const name of ['LANG', 'HOME', 'PATHS', 'MY_PATH', '_x']) expect(environmentNameProblem(name)).toBeNull()
})

describe('checkValue', () => {
  test.each([
    [undefined, 'text', 5],
    ['string', '', null],
    ['number', 1.5, '1.5'],
    ['number', 0, Number.NaN],
    ['boolean', false, 0],
  ] as const)('%s accepts %p and refuses %p', (type, good, bad) => {
    const definition = type === undefined ? {} : { type }
    expect(checkValue(definition, good)).toBeNull()
    expect(checkValue(definition, bad)).toBe(`must be a ${type ?? 'string'}`)
  })

  test('json accepts any value', () => {
    for (const value of [null, 1, 'a', [], { a: 1 }]) expect(checkValue({ type: 'json' }, value)).toBeNull()
  })

  test('a sensitive value must be long enough to be masked', () => {
    expect(checkValue({ sensitive: true }, 'abc')).toMatch('at least 4')
    expect(checkValue({ sensitive: true }, 'abcd')).toBeNull()
    expect(checkValue({ sensitive: true, type: 'number' }, 123)).toMatch('at least 4')
  })

  test('a sealed value is not checked again', () => {
    expect(checkValue({ type: 'number' }, { $sealed: 'k1:…' })).toBeNull()
  })
})

test('toText returns strings unchanged and other values as JSON, and refuses sealed values', () => {
  expect(['a"b', 1e21, true, null, { a: [1] }].map(toText)).toEqual(['a"b', '1e+21', 'true', 'null', '{"a":[1]}'])
  expect(() => toText({ $sealed: 'x' })).toThrow('sealed')
})

test('sensitive names and sealed values are masked', () => {
  const values = { a: 'x', token: 'secret', other: { $sealed: 'x' } }
  expect(mask(values, ['token'])).toEqual({ a: 'x', token: '***', other: '***' })
  expect(values.token).toBe('secret')
})

test('names that differ only in case are reported', () => {
  expect(clashingNames(['a', 'b', 'a', 'A', 'B2'])).toEqual([['a', 'A']])
})

test('layers are merged in the order of the interface', () => {
  const layers = ['action', 'sequence', 'solution', 'in_sequence', 'in_solution', 'shared', 'target', 'override']
  // The variable v<i> is set in every layer up to layers[i], so the value of layers[i] must apply.
  const upTo = (layer: string) =>
    Object.fromEntries(layers.flatMap((_, i) => (i >= layers.indexOf(layer) ? [[`v${i}`, layer]] : [])))
  const defaults = (layer: string) => Object.entries(upTo(layer)).map(([name, value]) => ({ name, default: value }))
  const variables = layerActionVariables({
    definitions: [defaults('action'), defaults('sequence'), defaults('solution')],
    entries: [upTo('in_sequence'), upTo('in_solution')],
  })
  const plan = {
    actions: [{ variables } as never],
    shared_variables: upTo('shared'),
    override_variables: upTo('override'),
  }
  const values = valuesFor(plan, 0, { variables: upTo('target') })
  expect(values).toEqual(Object.fromEntries(layers.map((layer, i) => [`v${i}`, layer])))
})

test('definitions of the same name are merged', () => {
  const collected = collectDefinitions([
    { name: 'port', type: 'number', id: 'a' },
    { name: 'port', required: true, id: 'b' },
    { name: 'key', sensitive: true },
  ])
  expect(collected.get('port')).toMatchObject({ types: new Set(['number']), required: true, ids: new Set(['a', 'b']) })
  expect(collected.get('key')).toMatchObject({ types: new Set(['string']), sensitive: true, required: false })
})

test('a name such as __proto__ is data', () => {
  const hostile = JSON.parse('{"__proto__": "x"}')
  expect(Object.keys(mask(hostile, []))).toEqual(['__proto__'])
  expect(Object.keys(layerActionVariables({ definitions: [], entries: [hostile] }))).toEqual(['__proto__'])
})
