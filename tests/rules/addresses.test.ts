import { spawnSync } from 'node:child_process'
import { expect, test } from '@jest/globals'
import { repositoryRoot } from '@slipway/testing'

/** The refusal of `make up` with this environment variable. Nothing is started before the refusal. */
function refusalOf(variable: string, value: string) {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/suite.mjs', 'up'], {
    cwd: repositoryRoot,
    env: { PATH: process.env['PATH'], [variable]: value },
    encoding: 'utf8',
  })
  return { status, stderr }
}

test.each([
  ['DATABASE_URL', 'nonsense-with-a-secret', 'postgresql:'],
  ['DATABASE_URL', 'mysql://slipway:secret@127.0.0.1/slipway', 'postgresql:'],
  ['RABBITMQ_URL', 'http://slipway:secret@127.0.0.1', 'amqp:'],
  ['REDIS_URL', 'redis', 'redis:'],
])('%s=%s is refused by name, without its value', (variable, value, protocol) => {
  expect(refusalOf(variable, value)).toEqual({
    status: 1,
    stderr: `slipway: ${variable} is not an address like ${protocol}//user:password@host:port\n`,
  })
})

test('an invalid port is refused by name', () => {
  expect(refusalOf('SLIPWAY_PORT', '80800')).toEqual({
    status: 1,
    stderr: 'slipway: SLIPWAY_PORT is "80800": it must be a port, 1 to 65535\n',
  })
})
