import { expect, test } from '@jest/globals'
import { Type } from '@sinclair/typebox'
import { commonConfig, refuseDevelopmentSecrets, secretVariable } from '../src/index.ts'

const schema = Type.Object({
  DATABASE_URL: commonConfig.DATABASE_URL,
  SLIPWAY_ENCRYPTION_KEYS: commonConfig.SLIPWAY_ENCRYPTION_KEYS,
  SLIPWAY_NAMESPACE: commonConfig.SLIPWAY_NAMESPACE,
  TOKEN: Type.Optional(secretVariable({ description: 'A token' })),
})
const ownKey = `own:${Buffer.alloc(32, 1).toString('base64')}`
const developmentKey = `development:${Buffer.from('slipway-development-encryption-1').toString('base64')}`
const own = {
  DATABASE_URL: 'postgres://slipway:own@postgres.slipway-development.svc:5432/slipway-development',
  SLIPWAY_ENCRYPTION_KEYS: ownKey,
  SLIPWAY_NAMESPACE: 'slipway-development',
}

test('accepts names and hosts of development, because they are no secrets', () => {
  expect(() => refuseDevelopmentSecrets(schema, own)).not.toThrow()
})

test.each([
  ['DATABASE_URL', 'postgresql://slipway:slipway-development@127.0.0.1:5432/slipway'],
  ['SLIPWAY_ENCRYPTION_KEYS', developmentKey],
  ['SLIPWAY_ENCRYPTION_KEYS', `${ownKey}, ${developmentKey}`],
  ['TOKEN', 'slipway-development-enrolment-token'],
])('refuses %s with a development secret: %s', (variable, value) => {
  const refuse = () => refuseDevelopmentSecrets(schema, { ...own, [variable]: value })
  expect(refuse).toThrow(new RegExp(`^One environment variable is wrong:\\n {2}${variable} holds`))
  expect(refuse).not.toThrow(value)
})

test('names every variable with a development secret', () => {
  const all = { ...own, SLIPWAY_ENCRYPTION_KEYS: developmentKey, TOKEN: 'slipway-development' }
  expect(() => refuseDevelopmentSecrets(schema, all)).toThrow(/SLIPWAY_ENCRYPTION_KEYS[\s\S]*TOKEN/)
})
