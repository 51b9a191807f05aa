import { describe, expect, test } from '@jest/globals'
import { readLimitSettings } from '@slipway/http/limits'
import { loadConfig } from '@slipway/runtime'
import { gatewayConfig } from '../src/config.ts'

const REQUIRED = {
  DATABASE_URL: 'postgres://a@b/c',
  RABBITMQ_URL: 'amqp://a',
  REDIS_URL: 'redis://a',
  SLIPWAY_ENCRYPTION_KEYS: `k:${Buffer.alloc(32, 1).toString('base64')}`,
  SLIPWAY_JWT_KEYS: `k:${Buffer.alloc(32, 1).toString('base64')}`,
  SLIPWAY_LOG_STREAM_URL: 'http://a',
}
const settings = (env: Record<string, string> = {}) =>
  readLimitSettings(loadConfig(gatewayConfig, { ...REQUIRED, ...env }))

test('the default limits are 100 requests/s, 200 at once, 5 logins/min, 900 s of lockout, no proxy', () => {
  const { rate, loginAttemptsPerMinute, loginLockoutSeconds, trustedProxies } = settings()
  expect(rate('127.0.0.1')).toEqual({ rps: 100, burst: 200 })
  expect(loginAttemptsPerMinute('127.0.0.1')).toBe(5)
  expect(loginLockoutSeconds).toBe(900)
  expect(trustedProxies).toEqual([])
})

test('0 disables a limit', () => {
  const { rate, loginAttemptsPerMinute } = settings({
    SLIPWAY_RATE_LIMIT_RPS: '0',
    SLIPWAY_LOGIN_ATTEMPTS_PER_MINUTE: '0',
  })
  expect(rate('192.0.2.1')).toBeNull()
  expect(loginAttemptsPerMinute('192.0.2.1')).toBeNull()
})

test('the narrowest range that contains an address applies', () => {
  const { rate, loginAttemptsPerMinute } = settings({
    SLIPWAY_RATE_LIMIT_OVERRIDES: '10.0.0.0/8=1000, 10.1.0.0/16=50:60, 10.1.2.3=0, ::/0=7',
    SLIPWAY_LOGIN_OVERRIDES: '10.0.0.0/8=0,10.1.0.0/16=3',
  })
  expect(rate('10.9.9.9')).toEqual({ rps: 1000, burst: 2000 })
  expect(rate('10.1.9.9')).toEqual({ rps: 50, burst: 60 })
  expect(rate('10.1.2.3')).toBeNull()
  expect(rate('2001:db8::1')).toEqual({ rps: 7, burst: 14 })
  expect(rate('192.0.2.1')).toEqual({ rps: 100, burst: 200 })
  expect(loginAttemptsPerMinute('10.9.9.9')).toBeNull()
  expect(loginAttemptsPerMinute('10.1.9.9')).toBe(3)
  expect(loginAttemptsPerMinute('192.0.2.1')).toBe(5)
})

describe('a malformed setting stops the start and is named', () => {
  test.each([
    ['SLIPWAY_RATE_LIMIT_RPS', '-1'],
    ['SLIPWAY_RATE_LIMIT_RPS', '1.5'],
    ['SLIPWAY_RATE_LIMIT_RPS', 'many'],
    ['SLIPWAY_RATE_LIMIT_BURST', '0'],
    ['SLIPWAY_LOGIN_ATTEMPTS_PER_MINUTE', '-5'],
    ['SLIPWAY_LOGIN_LOCKOUT_SECONDS', '0'],
    ['SLIPWAY_LOGIN_LOCKOUT_SECONDS', '86401'],
    ['SLIPWAY_TRUSTED_PROXIES', 'proxy.example.com'],
    ['SLIPWAY_TRUSTED_PROXIES', '10.0.0.0/8,10.0.0.0/40'],
    ['SLIPWAY_RATE_LIMIT_OVERRIDES', '10.0.0.0/8'],
    ['SLIPWAY_RATE_LIMIT_OVERRIDES', '10.0.0.0/8=fast'],
    ['SLIPWAY_RATE_LIMIT_OVERRIDES', '10.0.0.0/8=10:0'],
    ['SLIPWAY_RATE_LIMIT_OVERRIDES', '10.0.0.0/8=0:5'],
    ['SLIPWAY_RATE_LIMIT_OVERRIDES', '10.0.0.0/8=1:2:3'],
    ['SLIPWAY_RATE_LIMIT_OVERRIDES', '10.0.0.0/8=1=2'],
    ['SLIPWAY_LOGIN_OVERRIDES', '10.0.0.0/8=1:2'],
    ['SLIPWAY_LOGIN_OVERRIDES', 'everybody=1'],
  ])('%s=%s', (variable, value) => {
    expect(() => settings({ [variable]: value })).toThrow(variable)
  })

  test('several malformed settings are named together', () => {
    const wrong = () => settings({ SLIPWAY_TRUSTED_PROXIES: 'x', SLIPWAY_LOGIN_OVERRIDES: 'y' })
    expect(wrong).toThrow(/SLIPWAY_TRUSTED_PROXIES[\s\S]*SLIPWAY_LOGIN_OVERRIDES/)
  })
})
