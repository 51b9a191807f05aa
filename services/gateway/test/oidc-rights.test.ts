import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type NamedRights, type Rule, rightsOf } from '../src/login-providers/rights.ts'

const rule = (change: Partial<Rule>): Rule => ({ claim: 'groups', value: 'ops', roles: ['operator'], ...change })
const rights = (change: Partial<NamedRights> = {}): NamedRights => ({
  roles: [],
  bindings: [],
  tenant: null,
  ...change,
})

describe('a rule fits', () => {
  const fits = (given: Rule, claims: Record<string, unknown>) => rightsOf({ rules: [given] }, claims) !== 'no_rights'

  test.each([
    ['a claim that is the value', rule({}), { groups: 'ops' }, true],
    ['a claim that holds the value', rule({}), { groups: ['dev', 'ops'] }, true],
    ['a truth value', rule({ value: true }), { groups: true }, true],
    [
      'a claim whose name has dots',
      rule({ claim: 'https://acme.example/groups' }),
      { 'https://acme.example/groups': ['ops'] },
      true,
    ],
    ['not another case', rule({}), { groups: ['OPS'] }, false],
    ['not a part of a text', rule({}), { groups: 'ops dev' }, false],
    ['not a text that looks like the value', rule({ value: true }), { groups: 'true' }, false],
    ['not a nested list', rule({}), { groups: [['ops']] }, false],
    ['not a field of an object', rule({}), { groups: { ops: true } }, false],
    ['not a missing claim', rule({}), {}, false],
    ['not what every object inherits', rule({ claim: 'constructor', value: 'Object' }), {}, false],
  ])('%s', (_name, given, claims, expected) => {
    expect(fits(given, claims as Record<string, unknown>)).toBe(expected)
  })
})

test('all fitting rules together give roles, bindings and tenant', () => {
  const rules = [
    rule({}),
    rule({ value: 'dev', roles: ['user', 'operator'] }),
    rule({ value: 'shop', roles: ['user'], tenant: 'shop' }),
    rule({ value: 'prod', roles: ['operator'], environments: ['production', 'dr'] }),
    rule({ value: 'store', roles: ['operator'], solutions: ['store'] }),
    rule({ value: 'none', roles: ['admin'] }),
  ]
  expect(rightsOf({ rules }, { groups: ['ops', 'dev', 'shop', 'prod', 'store', 'prod'] })).toEqual({
    roles: ['operator', 'user'],
    bindings: [
      { role: 'operator', environments: ['dr', 'production'], solutions: null },
      { role: 'operator', environments: null, solutions: ['store'] },
    ],
    tenant: 'shop',
  })
})

test('the default roles are for users whom no rule fits', () => {
  const provider = { rules: [rule({})], default_roles: ['user'] }
  expect(rightsOf(provider, { groups: [] })).toEqual(rights({ roles: ['user'] }))
  expect(rightsOf(provider, { groups: ['ops'] })).toEqual(rights({ roles: ['operator'] }))
  expect(rightsOf({ rules: [rule({})] }, { groups: [] })).toBe('no_rights')
})

test('rules of two tenants give nothing, rules of one tenant give it', () => {
  const rules = [
    rule({ tenant: 'shop' }),
    rule({ value: 'bank', tenant: 'bank' }),
    rule({ value: 'till', tenant: 'shop' }),
  ]
  expect(rightsOf({ rules }, { groups: ['ops', 'bank'] })).toBe('tenants_differ')
  expect(rightsOf({ rules }, { groups: ['ops', 'till'] })).toEqual(rights({ roles: ['operator'], tenant: 'shop' }))
})

const names = (prefix: string) => fc.integer({ min: 0, max: 3 }).map((number) => `${prefix}${number}`)
const someOf = (prefix: string) => fc.uniqueArray(names(prefix), { minLength: 1, maxLength: 3 })
const anyRule = fc.record(
  {
    claim: fc.constantFrom('groups', 'department'),
    value: fc.oneof(names('group'), fc.boolean()),
    roles: someOf('role'),
    tenant: names('tenant'),
    environments: someOf('environment'),
    solutions: someOf('solution'),
  },
  { requiredKeys: ['claim', 'value', 'roles'] },
)
const anyRules = fc.array(anyRule, { maxLength: 8 })
const anyClaims = fc.record(
  { groups: fc.array(names('group'), { maxLength: 500 }), department: fc.oneof(names('group'), fc.boolean()) },
  { requiredKeys: [] },
)

describe('whatever the rules and the claims are', () => {
  test('every right comes from a rule that fits', () => {
    fc.assert(
      fc.property(anyRules, anyClaims, (rules, claims) => {
        const found = rightsOf({ rules }, claims)
        if (typeof found === 'string') return
        const fitting = rules.filter((one) => rightsOf({ rules: [one] }, claims) !== 'no_rights')
        const isPlain = (one: (typeof rules)[number]) => one.environments === undefined && one.solutions === undefined
        const plainRoles = fitting.filter(isPlain).flatMap(({ roles }) => roles)
        expect(new Set(found.roles)).toEqual(new Set(plainRoles))
        for (const binding of found.bindings) {
          expect(binding.environments ?? binding.solutions).not.toBeNull()
          expect(
            fitting.some(
              ({ roles, environments, solutions }) =>
                roles.includes(binding.role) &&
                (binding.environments ?? []).every((name) => environments?.includes(name)) &&
                (binding.solutions ?? []).every((name) => solutions?.includes(name)),
            ),
          ).toBe(true)
        }
      }),
    )
  })

  test('neither the order of rules nor that of entries matters, and no claim adds a right by being absent', () => {
    fc.assert(
      fc.property(anyRules, anyClaims, (rules, claims) => {
        const other = { ...claims, ...(claims.groups === undefined ? {} : { groups: claims.groups.toReversed() }) }
        const normal = (found: ReturnType<typeof rightsOf>) =>
          typeof found === 'string'
            ? found
            : { ...found, bindings: found.bindings.map((one) => JSON.stringify(one)).sort() }
        expect(normal(rightsOf({ rules: rules.toReversed() }, other))).toEqual(normal(rightsOf({ rules }, claims)))
        expect(rightsOf({ rules }, {})).toBe('no_rights')
      }),
    )
  })
})
