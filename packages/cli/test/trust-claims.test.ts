import { expect, test } from '@jest/globals'
import { buildTokenRule, type TrustOptions } from '../src/commands/trust-claims.ts'
import { UsageError } from '../src/exit-code.ts'

const GITHUB = 'https://token.actions.githubusercontent.com'

test.each<[string, TrustOptions, object]>([
  [
    'pushes to a branch on GitHub',
    { github: 'acme/shop', branch: 'main' },
    {
      name: 'acme/shop main',
      issuer: GITHUB,
      claims: { repository: 'acme/shop', ref: 'refs/heads/main', event_name: 'push' },
    },
  ],
  [
    'an environment on GitHub',
    { github: 'acme/shop', environment: 'production' },
    { name: 'acme/shop production', issuer: GITHUB, claims: { repository: 'acme/shop', environment: 'production' } },
  ],
  [
    'a branch on GitLab, and no tag of its name',
    { gitlab: 'acme/web/shop', branch: 'main' },
    {
      name: 'acme/web/shop main',
      issuer: 'https://gitlab.com',
      claims: { project_path: 'acme/web/shop', ref: 'main', ref_type: 'branch' },
    },
  ],
  [
    'a GitLab server of the company, with one more claim and a name',
    {
      gitlab: 'acme/shop',
      issuer: 'https://gitlab.example.com',
      claim: [['ref_protected', 'true']],
      name: 'protected',
    },
    {
      name: 'protected',
      issuer: 'https://gitlab.example.com',
      claims: { project_path: 'acme/shop', ref_protected: 'true' },
    },
  ],
  [
    'another platform',
    { issuer: 'https://jenkins.example.com/oidc', claim: [['sub', 'https://jenkins.example.com/job/shop/']] },
    {
      name: 'https://jenkins.example.com/oidc',
      issuer: 'https://jenkins.example.com/oidc',
      claims: { sub: 'https://jenkins.example.com/job/shop/' },
    },
  ],
])('%s', (_, options, rule) => {
  expect(buildTokenRule(options)).toEqual(rule)
})

test.each<[string, TrustOptions]>([
  ['no issuer', { claim: [['sub', 'x']] }],
  ['no claim', { issuer: 'https://jenkins.example.com/oidc' }],
  [
    'a branch without a platform',
    { issuer: 'https://jenkins.example.com/oidc', branch: 'main', claim: [['sub', 'x']] },
  ],
])('%s is wrong usage', (_, options) => {
  expect(() => buildTokenRule(options)).toThrow(UsageError)
})
