import { PassThrough } from 'node:stream'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { createLogger, currentContext, sleep, withContext } from '../src/index.ts'

const lines: Record<string, unknown>[] = []
const stream = new PassThrough()
stream.on('data', (chunk: Buffer) => {
  for (const line of chunk.toString().split('\n')) if (line) lines.push(JSON.parse(line))
})
const logger = createLogger({ service: 'planner', level: 'info', stream })
beforeEach(() => {
  lines.length = 0
})

test('a line is one JSON object with time, level, service and message', () => {
  logger.info('two\nlines', { count: 2 })
  logger.debug('too small')
  expect(lines).toEqual([
    { timestamp: expect.any(String), level: 'info', service: 'planner', message: 'two\nlines', count: 2 },
  ])
  expect(new Date(String(lines[0]?.['timestamp'])).toISOString()).toBe(lines[0]?.['timestamp'])
})

test('a line has the fields of its context and child loggers, and none of them replaces the basic fields', () => {
  const child = logger.child({ part: 'relay', deployment_id: 'child' })
  withContext({ request_id: 'r1', deployment_id: 'context' }, () =>
    child.warn('careful', { level: 'mine', part: 'own' }),
  )
  expect(lines[0]).toMatchObject({
    level: 'warn',
    level_: 'mine',
    request_id: 'r1',
    deployment_id: 'child',
    part: 'own',
  })
})

test('a context applies to all that is awaited in it, and concurrent contexts are separate', async () => {
  const seen = await Promise.all(
    ['a', 'b'].map((request_id) =>
      withContext({ request_id }, async () => {
        await sleep(1)
        return withContext({ message_id: 'm' }, async () => currentContext())
      }),
    ),
  )
  expect(seen).toEqual([
    { request_id: 'a', message_id: 'm' },
    { request_id: 'b', message_id: 'm' },
  ])
  expect(currentContext()).toEqual({})
})

describe('secrets', () => {
  test.each([
    'authorization',
    'Authorization',
    'password',
    'adminPassword',
    'token',
    'sse_token',
    'refreshToken',
    'secret',
    'client_secret',
    'private_key',
    'privateKey',
    'credential',
    'cookie',
    'api_key',
  ])('the value of %s is not written, at any depth', (key) => {
    logger.info('x', { [key]: 'hunter2', deep: [{ more: { [key]: ['hunter2'], fine: 'shown' } }] })
    expect(JSON.stringify(lines)).not.toContain('hunter2')
    expect(JSON.stringify(lines)).toContain('shown')
  })

  test('passwords in URLs are redacted in messages, fields and errors', () => {
    const url = 'amqp://slipway:hunter2@host:5672/x'
    logger.error(`no way to ${url}`, { url, error: new Error(`lost ${url}`, { cause: new Error(url) }) })
    expect(JSON.stringify(lines)).not.toContain('hunter2')
    expect(lines[0]?.['url']).toBe('amqp://slipway:[redacted]@host:5672/x')
  })
})

describe('values that JSON cannot hold', () => {
  test('an error is logged with its code and cause', () => {
    const error = Object.assign(new TypeError('no'), { code: 'ENOPE', cause: new Error('why') })
    logger.error('failed', { error })
    expect(lines[0]?.['error']).toMatchObject({
      name: 'TypeError',
      message: 'no',
      code: 'ENOPE',
      cause: { message: 'why' },
    })
    expect(lines[0]).toMatchObject({ error: { stack: expect.stringContaining('logger.test') } })
  })

  test('circular values, big integers, bytes and throwing getters do not lose the line', () => {
    const circle: Record<string, unknown> = { n: 10n, bytes: Buffer.from('abc'), when: new Date(0) }
    circle['self'] = circle
    logger.info('odd', {
      circle,
      bad: Object.defineProperty({}, 'x', {
        enumerable: true,
        get: () => {
          throw new Error('no')
        },
      }),
    })
    expect(lines[0]).toMatchObject({
      message: 'odd',
      circle: { n: '10', bytes: '[3 bytes]', when: '1970-01-01T00:00:00.000Z' },
    })
  })
})
