import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { Type } from '@sinclair/typebox'
import { ConfigurationError, commonConfig, loadConfig, portVariable, secretVariable } from '../src/index.ts'

const schema = Type.Object({
  DATABASE_URL: commonConfig.DATABASE_URL,
  SLIPWAY_LOG_LEVEL: commonConfig.SLIPWAY_LOG_LEVEL,
  SLIPWAY_PORT: portVariable({ default: 8080, description: 'Port of the API' }),
  SLIPWAY_COOKIE_SECURE: Type.Boolean({ default: true }),
  SLIPWAY_ADMIN_PASSWORD: Type.Optional(secretVariable({ description: 'First password', minLength: 12 })),
})
const DATABASE_URL = 'postgres://slipway:hunter2@127.0.0.1/slipway'

const folder = mkdtempSync(join(tmpdir(), 'slipway-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const problemsOf = (env: Record<string, string>) => {
  try {
    loadConfig(schema, env)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError)
    return error as ConfigurationError
  }
  throw new Error('it was accepted')
}

describe('accepted variables', () => {
  test('values are converted to their type, absent ones get their default, and others are left out', () => {
    const env = { DATABASE_URL, SLIPWAY_PORT: '9000', SLIPWAY_COOKIE_SECURE: 'false', PATH: '/bin' }
    expect(loadConfig(schema, env)).toEqual({
      DATABASE_URL,
      SLIPWAY_LOG_LEVEL: 'info',
      SLIPWAY_PORT: 9000,
      SLIPWAY_COOKIE_SECURE: false,
    })
  })

  test('a blank value counts as unset', () => {
    const env = { DATABASE_URL, DATABASE_URL_FILE: '', SLIPWAY_PORT: ' ', SLIPWAY_ADMIN_PASSWORD: '' }
    const config = loadConfig(schema, env)
    expect(config.SLIPWAY_PORT).toBe(8080)
    expect(config.SLIPWAY_ADMIN_PASSWORD).toBeUndefined()
  })

  test('any variable may come from a file, without its last line break', () => {
    const file = join(folder, 'url')
    writeFileSync(file, `${DATABASE_URL}\n`)
    expect(loadConfig(schema, { DATABASE_URL_FILE: file }).DATABASE_URL).toBe(DATABASE_URL)
  })

  test('the schema may be used again', () => {
    const before = JSON.stringify(schema)
    loadConfig(schema, { DATABASE_URL })
    expect(JSON.stringify(schema)).toBe(before)
  })
})

describe('refused variables', () => {
  test('all wrong variables are named at once, each with its valid form and an example', () => {
    const { message, problems } = problemsOf({
      SLIPWAY_PORT: '80800',
      SLIPWAY_LOG_LEVEL: 'loud',
      SLIPWAY_COOKIE_SECURE: 'maybe',
    })
    expect(problems.map((problem) => problem.variable).sort()).toEqual([
      'DATABASE_URL',
      'SLIPWAY_COOKIE_SECURE',
      'SLIPWAY_LOG_LEVEL',
      'SLIPWAY_PORT',
    ])
    expect(message).toMatch(/^4 environment variables are wrong:/)
    expect(message).toContain('DATABASE_URL is missing')
    expect(message).toContain('Example: DATABASE_URL=postgres://')
    expect(message).toContain('SLIPWAY_PORT is "80800", which must be a port number from 0 to 65535')
    expect(message).toContain('SLIPWAY_LOG_LEVEL is "loud", which must be one of error, warn, info, debug')
  })

  test.each(['abc', '80.5', '-1', '8 0'])('a port %j is refused', (port) => {
    expect(problemsOf({ DATABASE_URL, SLIPWAY_PORT: port }).problems).toMatchObject([{ variable: 'SLIPWAY_PORT' }])
  })

  test('the value of a secret, or of a URL that may hold one, is not shown', () => {
    const { message } = problemsOf({ DATABASE_URL: 'mysql://root:hunter2@db/x', SLIPWAY_ADMIN_PASSWORD: 'correcthors' })
    expect(message).toContain('DATABASE_URL must be a URL that starts with postgres://')
    expect(message).toContain('SLIPWAY_ADMIN_PASSWORD must be a text of at least 12 characters')
    expect(message).not.toMatch(/hunter2|correcthors/)
  })

  test('a missing file and a variable that is set twice are reported', () => {
    const missing = join(folder, 'nothing')
    const env = { DATABASE_URL_FILE: missing, SLIPWAY_PORT: '1', SLIPWAY_PORT_FILE: missing, SLIPWAY_LOG_LEVEL: 'loud' }
    const { problems, message } = problemsOf(env)
    expect(problems.map((problem) => problem.variable)).toEqual(['DATABASE_URL', 'SLIPWAY_PORT', 'SLIPWAY_LOG_LEVEL'])
    expect(message).toContain(`DATABASE_URL_FILE names ${missing} (ENOENT)`)
    expect(message).toContain('also by SLIPWAY_PORT_FILE')
  })
})

test('every common variable is described and its example, or default, is valid', () => {
  for (const [name, property] of Object.entries(commonConfig)) {
    expect(property.description).toBeTruthy()
    const value =
      name === 'SLIPWAY_ENCRYPTION_KEYS' ? `k:${Buffer.alloc(32).toString('base64')}` : String(property.examples?.[0])
    expect(loadConfig(Type.Object({ [name]: property }), { [name]: value })).toHaveProperty(name)
  }
})
