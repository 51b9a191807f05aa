import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  type AccessObject,
  accessProblem,
  type Binding,
  because,
  lackedBy,
  may,
  mayEverywhere,
  PERMISSIONS,
  type Permission,
  permissionsOf,
  type Subject,
  type TouchedByDeployment,
} from '../src/index.ts'

const binding = (permissions: readonly string[], more: Partial<Binding> = {}): Binding => ({
  role: 'deployer',
  role_id: 'deployer',
  permissions,
  environment_ids: null,
  solution_ids: null,
  ...more,
})
const holder = (...bindings: Binding[]): Subject => ({ bindings, key: null })
const SHOP: TouchedByDeployment['source'] = { type: 'solution', id: 'shop' }
const deployment = (environment_ids: string[], source = SHOP): AccessObject => ({
  kind: 'deployment',
  environment_ids,
  source,
})
const DEPLOY = 'deployments:create'
const inStaging = binding([DEPLOY, 'deployments:read', 'users:update'], { environment_ids: ['staging'] })
const shopOnly = binding([DEPLOY], { solution_ids: ['shop'] })

describe('a deployment is covered', () => {
  const sequence = { type: 'sequence' as const, id: 'shop' }
  test.each<[string, Subject, AccessObject, boolean]>([
    ['by a role without scope, whatever it touches', holder(binding([DEPLOY])), deployment([]), true],
    ['in the environment of the binding', holder(inStaging), deployment(['staging']), true],
    ['not in another one', holder(inStaging), deployment(['production']), false],
    ['not in another one beside', holder(inStaging), deployment(['staging', 'production']), false],
    ['not without an environment', holder(inStaging), deployment([]), false],
    ['for the solution of the binding', holder(shopOnly), deployment(['staging']), true],
    ['not without an environment, though only solutions count', holder(shopOnly), deployment([]), false],
    ['not for a sequence of the same id', holder(shopOnly), deployment(['staging'], sequence), false],
    [
      'not by two bindings together',
      holder(inStaging, { ...inStaging, environment_ids: ['production'] }),
      deployment(['staging', 'production']),
      false,
    ],
    [
      'by the limits of the key as well',
      { ...holder(binding([DEPLOY])), key: { scopes: [], environment_ids: ['staging'], solution_ids: null } },
      deployment(['production']),
      false,
    ],
  ])('%s', (_, subject, object, allowed) => {
    expect(may(subject, DEPLOY, object).allowed).toBe(allowed)
  })
})

test('a binding with a scope reads without it, and gives nothing that is no action', () => {
  const subject = holder(inStaging)
  expect(may(subject, 'deployments:read', deployment(['production'])).allowed).toBe(true)
  expect(may(subject, 'users:update').allowed).toBe(false)
  expect(permissionsOf(subject)).toEqual(['deployments:read'])
})

test('only the role admin overrides, and only without a scope', () => {
  const permissions = ['deployments:override']
  expect(may(holder(binding(permissions)), 'deployments:override').allowed).toBe(false)
  expect(may(holder(binding(permissions, { role: 'admin' })), 'deployments:override').allowed).toBe(true)
  const scoped = binding(permissions, { role: 'admin', environment_ids: ['staging'] })
  expect(may(holder(scoped), 'deployments:override').allowed).toBe(false)
})

test('a refusal says why, and what is touched', () => {
  expect(because(DEPLOY, may(holder(), DEPLOY))).toBe('None of your roles gives deployments:create')
  const named = {
    environments: [{ id: 'production', name: 'Production' }],
    source: { type: 'solution', id: 'shop', name: 'Shop' },
  }
  const problem = accessProblem(holder(inStaging), DEPLOY, deployment(['production']), named)
  expect(problem).toMatchObject({
    code: 'INSUFFICIENT_PERMISSIONS',
    message:
      'Your roles give deployments:create only for other environments or solutions: this is about "Production", the solution ' +
      '"Shop". Ask an administrator for a role in this scope',
    details: { permission: DEPLOY, ...named },
  })
  expect(accessProblem(holder(), DEPLOY)?.details).toBeUndefined()
})

describe('nobody gives what they lack', () => {
  test.each<[string, Subject, Binding, string[]]>([
    ['without scope', holder(binding([DEPLOY])), inStaging, ['deployments:read']],
    ['in the same scope', holder(inStaging), inStaging, []],
    ['in a narrower scope', holder(inStaging), { ...inStaging, solution_ids: ['shop'] }, []],
    ['in a wider scope', holder(inStaging), binding([DEPLOY]), [DEPLOY]],
    [
      'the role admin in a scope, without being one',
      holder(binding(PERMISSIONS)),
      binding(PERMISSIONS, { role: 'admin', environment_ids: ['staging'] }),
      ['deployments:override'],
    ],
    ['in another scope', holder(inStaging), { ...inStaging, environment_ids: ['production'] }, [DEPLOY]],
  ])('%s', (_, subject, given, lacked) => {
    expect(lackedBy(subject, [given])).toEqual(lacked)
  })
})

// --- a second implementation, which follows the words of the rules one by one --------------------------------------

const ACTIONS = /^(deployments:(create|cancel|approve)|(freezes|targets):(create|update|delete))$/
const ENVIRONMENTS = ['e1', 'e2', 'e3']
const SOLUTIONS = ['s1', 's2']

const scope = fc.record({
  environment_ids: fc.option(fc.subarray(ENVIRONMENTS, { minLength: 1 }), { nil: null }),
  solution_ids: fc.option(fc.subarray(SOLUTIONS, { minLength: 1 }), { nil: null }),
})
const subjects = fc.record({
  bindings: fc.array(
    fc.record({ permissions: fc.subarray([...PERMISSIONS]), scope, role: fc.constantFrom('admin', 'deployer') }),
    { maxLength: 4 },
  ),
  key: fc.option(fc.record({ scopes: fc.oneof(fc.constant([]), fc.subarray([...PERMISSIONS])), scope }), { nil: null }),
})
const objects: fc.Arbitrary<AccessObject> = fc.oneof(
  fc.record({
    kind: fc.constant('deployment' as const),
    environment_ids: fc.subarray(ENVIRONMENTS),
    source: fc.record({
      type: fc.constantFrom('solution' as const, 'sequence' as const, 'action' as const),
      id: fc.constantFrom(...SOLUTIONS),
    }),
  }),
  fc.record({
    kind: fc.constant('freeze' as const),
    environment_id: fc.constantFrom(null, ...ENVIRONMENTS),
    solution_id: fc.constantFrom(null, ...SOLUTIONS),
  }),
  fc.record({ kind: fc.constant('target' as const), environment_id: fc.constantFrom(null, ...ENVIRONMENTS) }),
)

type Scope = Pick<Binding, 'environment_ids' | 'solution_ids'>

function naivelyCovers(limits: Scope, object: AccessObject): boolean {
  if (object.kind === 'anything') return true
  if (object.kind === 'target') {
    if (limits.solution_ids !== null) return false
    return object.environment_id !== null && (limits.environment_ids ?? []).includes(object.environment_id)
  }
  if (object.kind === 'freeze') {
    const inEnvironment =
      limits.environment_ids === null || limits.environment_ids.some((id) => id === object.environment_id)
    const ofSolution = limits.solution_ids === null || limits.solution_ids.some((id) => id === object.solution_id)
    return inEnvironment && ofSolution
  }
  const touched = new Set(object.environment_ids)
  if (touched.size === 0) return false
  if (limits.environment_ids !== null) for (const id of limits.environment_ids) touched.delete(id)
  if (limits.environment_ids !== null && touched.size > 0) return false
  if (limits.solution_ids === null) return true
  return object.source?.type === 'solution' && new Set(limits.solution_ids).has(object.source.id)
}

const isPlain = ({ environment_ids, solution_ids }: Scope) => environment_ids === null && solution_ids === null

function naivelyMay(subject: Subject, permission: Permission, object: AccessObject): boolean {
  const isRead = permission.split(':')[1] === 'read'
  const isAction = ACTIONS.test(permission)
  const within = (limits: Scope) => isPlain(limits) || isRead || (isAction && naivelyCovers(limits, object))
  for (const one of subject.bindings) {
    if (!one.permissions.includes(permission)) continue
    if (permission === 'deployments:override' && one.role !== 'admin') continue
    if (!within(one)) continue
    if (subject.key === null) return true
    const { scopes } = subject.key
    if ((scopes.length === 0 || scopes.includes(permission)) && within(subject.key)) return true
  }
  return false
}

test('may agrees with a naive implementation for every permission, scope and object', () => {
  fc.assert(
    fc.property(subjects, objects, fc.constantFrom(...PERMISSIONS), (given, object, permission) => {
      const subject: Subject = {
        bindings: given.bindings.map(({ role, permissions, scope }) => ({
          role,
          role_id: role,
          permissions,
          ...scope,
        })),
        key: given.key && { scopes: given.key.scopes, ...given.key.scope },
      }
      expect(may(subject, permission, object).allowed).toBe(naivelyMay(subject, permission, object))
      // Who may do it everywhere may do it here.
      if (mayEverywhere(subject, permission)) expect(may(subject, permission, object).allowed).toBe(true)
    }),
    { numRuns: 3_000 },
  )
})

test('whoever receives a binding may do nothing that its giver may not', () => {
  fc.assert(
    fc.property(subjects, scope, fc.subarray([...PERMISSIONS]), objects, (given, limits, permissions, object) => {
      const giver: Subject = {
        bindings: given.bindings.map(({ role, permissions, scope }) => ({
          role,
          role_id: role,
          permissions,
          ...scope,
        })),
        key: given.key && { scopes: given.key.scopes, ...given.key.scope },
      }
      const given_ = { role: 'deployer', role_id: 'deployer', permissions, ...limits }
      if (lackedBy(giver, [given_]).length > 0) return
      for (const permission of PERMISSIONS) {
        if (may(holder(given_), permission, object).allowed)
          expect([permission, may(giver, permission, object).allowed]).toEqual([permission, true])
      }
    }),
    { numRuns: 1_000 },
  )
})
