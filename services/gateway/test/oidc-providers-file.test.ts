import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { ConfigurationError } from '@slipway/runtime'
import { keptLog, waitFor } from '@slipway/testing'
import { type Providers, readProviders, watchProviders } from '../src/login-providers/providers-file.ts'
import { readPublicUrl } from '../src/login-providers/settings.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-oidc-'))
  file = path.join(folder, 'oidc.yaml')
})
afterEach(() => rmSync(folder, { recursive: true }))

const VALID = {
  id: 'keycloak',
  name: 'Acme',
  issuer: 'https://login.acme.example/realms/acme',
  client_id: 'slipway',
  client_secret: 'secret-of-the-client',
  rules: [{ claim: 'groups', value: 'ops', roles: ['operator'] }],
}

/** Writes the file in one step, as an editor or Kubernetes does. */
function write(content: string | object): void {
  writeFileSync(`${file}.new`, typeof content === 'string' ? content : JSON.stringify(content))
  renameSync(`${file}.new`, file)
}

function problemOf(content: string | object, isDevelopment = false): string {
  write(content)
  try {
    readProviders({ file, isDevelopment })
    return 'none'
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError)
    return (error as ConfigurationError).problems.map(({ variable, problem }) => `${variable} ${problem}`).join()
  }
}

const withChange = (change: object) => ({ providers: [{ ...VALID, ...change }] })

test('reads YAML and JSON, the secret also from a file beside it', () => {
  writeFileSync(path.join(folder, 'secret'), 'secret-in-a-file\n')
  write(`
providers:
  - id: keycloak
    name: Acme
    issuer: https://login.acme.example/realms/acme
    client_id: slipway
    client_secret_file: secret
    scopes: [openid, groups]
    link_by_email: true
    default_roles: [user]
    rules:
      - { claim: groups, value: ops, roles: [operator], tenant: shop, environments: [production] }
`)
  expect(readProviders({ file, isDevelopment: false })).toEqual([
    {
      ...VALID,
      client_secret: 'secret-in-a-file',
      scopes: ['openid', 'groups'],
      link_by_email: true,
      default_roles: ['user'],
      rules: [{ ...VALID.rules[0], tenant: 'shop', environments: ['production'] }],
    },
  ])
  write({ providers: [VALID] })
  expect(readProviders({ file, isDevelopment: false })).toEqual([{ ...VALID, scopes: ['openid', 'email', 'profile'] }])
})

describe('refuses, with the entry and the field,', () => {
  test.each([
    ['an unknown field', withChange({ secret: 'x' }), 'providers[0] "keycloak": secret'],
    ['an unknown field of a rule', withChange({ rules: [{ ...VALID.rules[0], role: 'x' }] }), 'rules[0].role'],
    ['a missing field', withChange({ client_id: undefined }), 'providers[0] "keycloak": client_id'],
    ['a wrong id', withChange({ id: 'Keycloak' }), 'providers[0] "Keycloak": id'],
    ['an id that is used twice', { providers: [VALID, VALID] }, 'providers[1] "keycloak": id is used twice'],
    [
      'an issuer that is used twice',
      { providers: [VALID, { ...VALID, id: 'second' }] },
      'providers[1] "second": issuer is that of the provider keycloak',
    ],
    ['two secrets', withChange({ client_secret_file: 'secret' }), 'client_secret needs'],
    ['no secret', withChange({ client_secret: undefined }), 'client_secret needs'],
    [
      'a file of a secret that is missing',
      withChange({ client_secret: undefined, client_secret_file: 'none' }),
      'client_secret_file names',
    ],
    ['plain HTTP', withChange({ issuer: 'http://login.acme.example' }), 'issuer must begin with https://'],
    ['plain HTTP to this machine', withChange({ issuer: 'http://127.0.0.1:9000' }), 'SLIPWAY_DEVELOPMENT=true'],
    [
      'an issuer with a query',
      withChange({ issuer: 'https://login.acme.example?x=1' }),
      'issuer must be a URL without',
    ],
    ['scopes without openid', withChange({ scopes: ['email'] }), 'scopes must contain openid'],
    ['a rule without roles', withChange({ rules: [{ claim: 'a', value: 'b', roles: [] }] }), 'rules[0].roles'],
    [
      'a scope without environments',
      withChange({ rules: [{ ...VALID.rules[0], environments: [] }] }),
      'rules[0].environments',
    ],
    ['no YAML', 'providers: [', 'line 1, column'],
    ['a field that is given twice', 'providers: []\nproviders: []', 'line 2, column 1'],
    [
      'a secret in the place of a block header',
      'providers:\n  - client_secret: |secret-of-the-client\n',
      'line 2, column 21 is not valid YAML: UNEXPECTED_TOKEN',
    ],
    ['another content', 'text', 'the file'],
  ])('%s', (_name, content, place) => {
    const problem = problemOf(content)
    expect(problem).toContain(`SLIPWAY_OIDC_FILE names ${file}`)
    expect(problem).toContain(place)
    expect(problem).not.toContain('secret-of-the-client')
  })

  test('a file that is missing', () => {
    expect(() => readProviders({ file, isDevelopment: false })).toThrow('the file cannot be read')
  })

  test('a secret with braces, without a warning that shows it', async () => {
    const warnings: string[] = []
    const note = ({ message }: Error) => warnings.push(message)
    process.on('warning', note)
    expect(problemOf('providers: [{ client_secret: {{ secret-of-the-client }} }]')).toContain('client_secret')
    await new Promise(setImmediate)
    process.off('warning', note)
    expect(warnings).toEqual([])
  })

  test('aliases that would fill the memory', () => {
    const levels = Array.from(
      { length: 9 },
      (_, level) => `a${level + 1}: &a${level + 1} [${`*a${level}, `.repeat(9)}]`,
    )
    expect(problemOf(`a0: &a0 [x]\n${levels.join('\n')}`)).toContain('aliases')
  })
})

test('plain HTTP to this machine is for development', () => {
  for (const issuer of ['http://127.0.0.1:9000', 'http://localhost:9000', 'http://[::1]:9000']) {
    expect(problemOf(withChange({ issuer }), true)).toBe('none')
  }
  expect(problemOf(withChange({ issuer: 'http://127.0.0.1.acme.example' }), true)).toContain('https://')
})

describe('a changed file', () => {
  let providers: Providers
  const { logger, written } = keptLog()
  const ids = () => providers.all().map(({ id }) => id)

  beforeEach(() => {
    writeFileSync(path.join(folder, 'secret'), 'one')
    const second = { ...VALID, id: 'second', issuer: 'https://login.second.example' }
    write({ providers: [VALID, { ...second, client_secret: undefined, client_secret_file: 'secret' }] })
    providers = watchProviders({ file, isDevelopment: false, logger, checkMs: 5 })
  })
  afterEach(() => providers.stop())

  test('applies, also that of a secret', async () => {
    expect(ids()).toEqual(['keycloak', 'second'])
    writeFileSync(path.join(folder, 'secret'), 'another')
    await waitFor(() => providers.all()[1]?.client_secret === 'another')
    write({ providers: [] })
    await waitFor(() => ids().length === 0)
  })

  test('that is not valid is logged with its place, and the old content stays', async () => {
    write(withChange({ issuer: 'nowhere' }))
    await waitFor(() => written().includes('providers[0] \\"keycloak\\": issuer must be a URL'))
    expect(ids()).toEqual(['keycloak', 'second'])
    write(withChange({ id: 'third' }))
    await waitFor(() => ids().includes('third'))
  })
})

describe('the public address', () => {
  const variables = { SLIPWAY_DEVELOPMENT: false, SLIPWAY_HOST: '0.0.0.0', SLIPWAY_PORT: 8080 }

  test('is an origin, and needed with providers', () => {
    expect(readPublicUrl({ ...variables, SLIPWAY_PUBLIC_URL: 'https://slipway.acme.example/' })).toBe(
      'https://slipway.acme.example',
    )
    for (const url of ['https://acme.example/slipway', 'https://acme.example/?x', 'https://ada:pw@acme.example']) {
      expect(() => readPublicUrl({ ...variables, SLIPWAY_PUBLIC_URL: url })).toThrow('SLIPWAY_PUBLIC_URL')
    }
    expect(() => readPublicUrl({ ...variables, SLIPWAY_OIDC_FILE: file })).toThrow('SLIPWAY_PUBLIC_URL is missing')
  })

  test('is the address of the API in development', () => {
    const development = { ...variables, SLIPWAY_OIDC_FILE: file, SLIPWAY_DEVELOPMENT: true, SLIPWAY_HOST: '127.0.0.1' }
    expect(readPublicUrl(development)).toBe('http://127.0.0.1:8080')
  })
})
