import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  changeVariables,
  MASK,
  Problem,
  type RecordVariables,
  type VariableChange,
  variableChanges,
} from '../src/index.ts'

const old: RecordVariables = { values: { token: 'hush-hush', region: 'eu-west' }, sensitive: ['token'] }

function errorsOf(before: RecordVariables, change: VariableChange): unknown {
  try {
    return changeVariables(before, change)
  } catch (error) {
    if (error instanceof Problem) return error.details?.['errors']
    throw error
  }
}

describe('a change of the variables of a record', () => {
  test('keeps a masked value that is sent back as ***, and removes variables that it leaves out', () => {
    expect(changeVariables(old, { variables: { token: MASK } })).toEqual({
      values: { token: 'hush-hush' },
      sensitive: ['token'],
    })
    expect(changeVariables(old, { variables: {} })).toEqual({ values: {}, sensitive: [] })
    expect(changeVariables(old, {})).toEqual(old)
  })

  test('reports all problems at once', () => {
    const change = { variables: { token: MASK, region: 'x', a: MASK }, sensitive_variables: ['region', 'a', 'nothing'] }
    expect(errorsOf(old, change)).toEqual([
      { path: '/variables/a', message: expect.stringContaining('the value itself') },
      { path: '/sensitive_variables/2', message: expect.stringContaining('no variable is named "nothing"') },
      { path: '/sensitive_variables', message: expect.stringContaining('leaves out "token"') },
      { path: '/variables/region', message: expect.stringContaining('at least 4 characters') },
    ])
  })

  test('treats names of the prototype as data', () => {
    const variables = JSON.parse('{"__proto__": "hush-hush", "constructor": "x"}')
    const made = changeVariables({ values: {}, sensitive: [] }, { variables, sensitive_variables: ['__proto__'] })
    expect(JSON.stringify(made)).toBe(
      '{"values":{"__proto__":"hush-hush","constructor":"x"},"sensitive":["__proto__"]}',
    )
    expect(errorsOf({ values: {}, sensitive: [] }, { sensitive_variables: ['constructor'] })).toHaveLength(1)
  })
})

const names = ['a', 'b', 'c']
const value = fc.oneof(fc.constant(MASK), fc.constantFrom('secret-one', 'secret-two', 'secret-three'))
const values = fc.dictionary(fc.constantFrom(...names), value, { noNullPrototype: true })
const change: fc.Arbitrary<VariableChange> = fc.record(
  { variables: values, sensitive_variables: fc.subarray(names) },
  { requiredKeys: [] },
)

test('no sequence of changes reveals a secret value without sending a new one', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 8 }), (changes) => {
      let record: RecordVariables = { values: {}, sensitive: [] }
      let hidden = new Map<string, unknown>()
      for (const one of changes) {
        let after: RecordVariables
        try {
          after = changeVariables(record, one)
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          continue
        }
        const isSent = (name: string) => Object.hasOwn(one.variables ?? {}, name) && one.variables?.[name] !== MASK
        for (const [name, kept] of hidden) {
          if (!Object.hasOwn(after.values, name) || isSent(name)) continue
          expect(after.sensitive).toContain(name)
          expect(after.values[name]).toBe(kept)
        }
        const told = variableChanges(record, after, one)
        for (const name of after.sensitive) if (isSent(name)) expect(told.set).toContain(name)
        hidden = new Map(after.sensitive.map((name) => [name, after.values[name]]))
        record = after
      }
    }),
    { numRuns: 2_000 },
  )
})
