// Rights and logins: what the console asks the server, how it shows roles in a scope, and what its forms send.
import { expect, test } from '@jest/globals'
import { loginFailure, startAddress } from '../src/app/login-address.ts'
import { limitWords } from '../src/components/limits.ts'
import { bindingsOf, draftsOf, newDraft } from '../src/screens/users/bindings.ts'
import { newTrust, type TrustDraft, trustOf } from '../src/screens/users/trust-draft.ts'
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

test('a limit is shown with the names of its environments and solutions', () => {
  const names = { environment: (id: string) => `env ${id}`, solution: (id: string) => `solution ${id}` }
  const words = (environment_ids: string[] | null, solution_ids: string[] | null) =>
    limitWords({ environment_ids, solution_ids }, names)
  expect(words(['a', 'b'], ['s'])).toBe('in env a, env b for solution s')
  expect(words(null, ['s'])).toBe('for solution s')
  expect(words(null, null)).toBe('')
  expect(words(['1', '2', '3', '4', '5', '6', '7'], null)).toBe('in env 1, env 2, env 3, env 4, env 5 and 2 more')
})

test('roles in a scope are sent as they are stored, and a list without a choice is no limit', () => {
  const stored = [{ role: 'deployer', environment_ids: ['e'], solution_ids: null }]
  const drafts = draftsOf(stored)
  expect(bindingsOf(drafts)).toEqual(stored)
  const added = { ...newDraft(drafts), role: 'approver' }
  expect(added.row).toBe(1)
  expect(bindingsOf([added])).toEqual([{ role: 'approver', environment_ids: null, solution_ids: null }])
})

const trust = (changed: Partial<TrustDraft>) => trustOf({ ...newTrust('https://slipway.example.com'), ...changed })

test('a trust for GitHub Actions names the repository, its owner, and an environment or the pushes to a branch', () => {
  const repository = ' acme/shop '
  expect(trust({ repository, ownerId: '42', environment: 'production' })).toEqual({
    issuer: 'https://token.actions.githubusercontent.com',
    audience: 'https://slipway.example.com',
    claims: { repository: 'acme/shop', repository_owner_id: '42', environment: 'production' },
  })
  expect(trust({ repository, jobsBy: 'branch' }).claims).toEqual({
    repository: 'acme/shop',
    ref: 'refs/heads/main',
    event_name: 'push',
  })
})

test('a trust for GitLab CI demands a protected environment or a protected branch', () => {
  const project = { platform: 'gitlab', gitlab: 'https://git.example.com/', projectId: '7' } as const
  expect(trust({ ...project, environment: 'production' })).toMatchObject({
    issuer: 'https://git.example.com',
    claims: { project_id: '7', environment: 'production', environment_protected: 'true' },
  })
  const claims = { project_id: '7', ref: 'main', ref_type: 'branch', ref_protected: 'true' }
  expect(trust({ ...project, jobsBy: 'branch' }).claims).toEqual(claims)
})

test('a trust for Jenkins names the address of the job, and another one what the user gives', () => {
  expect(trust({ platform: 'jenkins', jenkins: 'https://jenkins.example.com/', job: 'shop/main' })).toMatchObject({
    issuer: 'https://jenkins.example.com/oidc',
    claims: { sub: 'https://jenkins.example.com/job/shop/job/main/' },
  })
  const claims = [
    { row: 0, name: ' sub ', value: 'pipeline:* ' },
    { row: 1, name: '', value: 'lost' },
  ]
  expect(trust({ platform: 'other', issuer: 'https://ci.example.com', claims })).toMatchObject({
    issuer: 'https://ci.example.com',
    claims: { sub: 'pipeline:*' },
  })
})

test('a login with a provider leads back to the wanted screen, and from the login page to the first one', () => {
  const start = '/api/v1/auth/oidc/acme/start'
  const address = startAddress(start, { pathname: '/targets', search: '?status=offline&page=2' })
  expect(new URL(address, 'http://slipway').searchParams.get('return_to')).toBe('/targets?status=offline&page=2')
  const failed = { pathname: '/login', search: '?error=no_rights&provider=acme' }
  expect(startAddress(start, failed)).toBe(`${start}?return_to=%2F`)
})

test('only a known code is shown as the failure of a login', () => {
  const failure = (search: string, pathname = '/login') => loginFailure({ pathname, search })
  expect(failure('?error=no_rights&provider=acme')).toEqual({
    sentence: expect.stringMatching(/^Your account/),
    provider: 'acme',
  })
  expect(failure('?error=Call+0800+and+tell+your+password')).toBeNull()
  expect(failure('?error=toString')).toBeNull()
  expect(failure('?error=no_rights', '/targets')).toBeNull()
})
