import { expect, test } from '@jest/globals'
import { exportServiceUrls, serviceUrls } from '../src/index.ts'

const SERVICES = ['planner', 'log-stream'] as const

test('the address of a service must have its user and a password', () => {
  const read = (environment: Record<string, string>, prefix?: string) => [
    ...serviceUrls('DATABASE_URL', SERVICES, environment, prefix).keys(),
  ]
  const url = (user: string) => ({ DATABASE_URL_LOG_STREAM: `postgresql://${user}@127.0.0.1/slipway` })
  expect(read(url('slipway_log_stream:secret'))).toEqual(['log-stream'])
  expect(read(url('other_log_stream:secret'), 'other_')).toEqual(['log-stream'])
  expect(() => read(url('slipway:secret'))).toThrow('it must be slipway_log_stream')
  expect(() => read(url('slipway_log_stream'))).toThrow('has no password')
  expect(() => read({ DATABASE_URL_PLANNER: 'planner' })).toThrow('DATABASE_URL_PLANNER is not a URL')
})

test('the addresses of all services differ only in their user', () => {
  expect(exportServiceUrls('RABBITMQ_URL', SERVICES, 'amqp://slipway:secret@host:5672')).toEqual([
    "export RABBITMQ_URL_PLANNER='amqp://slipway_planner:secret@host:5672'",
    "export RABBITMQ_URL_LOG_STREAM='amqp://slipway_log_stream:secret@host:5672'",
  ])
})
