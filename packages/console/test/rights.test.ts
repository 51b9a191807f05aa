// What the console asks the server about rights, and how it shows bindings.
import { expect, test } from '@jest/globals'
import { askedOf, namesNothing, questionOf } from '../src/session/right-question.ts'

test('a question names what an act touches, and leaves out what is not known', () => {
  const source = { type: 'action', id: 'a' } as const
  expect(questionOf('deployments:create', { kind: 'deployment', environment_id: 'e', source })).toEqual({
    permission: 'deployments:create',
    environment_id: 'e',
    source_type: 'action',
    source_id: 'a',
  })
  expect(questionOf('freezes:update', { kind: 'freeze', environment_id: null, solution_id: 's' })).toEqual({
    permission: 'freezes:update',
    source_type: 'solution',
    source_id: 's',
  })
  expect(questionOf('targets:create', undefined)).toEqual({ permission: 'targets:create' })
})

test('a target without environment and a freeze of everything name nothing, a deployment always may', () => {
  expect(namesNothing({ kind: 'target', environment_id: null })).toBe(true)
  expect(namesNothing({ kind: 'freeze', environment_id: null, solution_id: null })).toBe(true)
  expect(namesNothing({ kind: 'freeze', environment_id: null, solution_id: 's' })).toBe(false)
  expect(namesNothing({ kind: 'deployment', environment_id: null })).toBe(false)
  expect(namesNothing(undefined)).toBe(false)
})

test('only a user with a role in a scope is asked for, and only for permissions that are missing', () => {
  const binding = { role: 'deployer', environment_ids: ['e'], solution_ids: null }
  expect(askedOf({ permissions: [], role_bindings: [] })).toEqual([])
  const asked = askedOf({ permissions: ['freezes:create', 'targets:read'], role_bindings: [binding] })
  expect(asked).toContain('deployments:create')
  expect(asked).not.toContain('freezes:create')
})
