import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { serviceUrlVariable, uuidv7 } from '@slipway/runtime'
import {
  keptLog,
  type PrivateRedis,
  repositoryRoot,
  serverUrl,
  startRedis,
  testNamespace,
  waitFor,
} from '@slipway/testing'
import { Redis } from 'ioredis'
import {
  aclFileOf,
  aclUsersOf,
  bucketKey,
  connectRedis,
  loginKeys,
  pendingTokenKey,
  REDIS_USERS,
  type RedisUser,
  sseSessionsKey,
  sseTokenKey,
  streamKey,
  warnOfDefaultUser,
  wrongPasswordsKey,
} from '../src/redis/index.ts'

/** The Redis that scripts/infra.sh starts has these users. The tests of the services use them as well. */
function urlOf(user: RedisUser): string {
  const variable = serviceUrlVariable('REDIS_URL', user)
  const url = process.env[variable]
  if (!url) throw new Error(`${variable} is not set: run \`make build\` and \`scripts/infra.sh up\``)
  return url
}

const namespace = testNamespace()
const stream = streamKey(namespace, uuidv7())
const token = sseTokenKey(namespace, 'hash')
const sessions = sseSessionsKey(namespace, uuidv7())
const bucket = bucketKey(namespace, '203.0.113.1')
const { attempts, lock } = loginKeys(namespace, '203.0.113.1')
const pendingToken = pendingTokenKey(namespace, uuidv7())
const wrongPasswords = wrongPasswordsKey(namespace, uuidv7())

const connections = new Map<RedisUser, Redis>()
const servers: PrivateRedis[] = []
async function startPrivate(options?: Parameters<typeof startRedis>[0]): Promise<PrivateRedis> {
  const server = await startRedis(options)
  servers.push(server)
  return server
}
beforeAll(() => {
  for (const user of REDIS_USERS) connections.set(user, new Redis(urlOf(user), { disableClientInfo: true }))
})
afterAll(async () => {
  for (const redis of connections.values()) redis.disconnect()
  await Promise.all(servers.map((server) => server.stop()))
})

describe('Redis refuses', () => {
  type Command = [string, ...(string | number)[]]
  const refuse = (user: RedisUser, [name, ...args]: Command) =>
    expect(connections.get(user)?.call(name, ...args)).rejects.toThrow(
      /^NOPERM|the user executing the script can't run/i,
    )

  const OF_NO_SERVICE: Command[] = [
    ['CONFIG', 'GET', 'requirepass'],
    ['CONFIG', 'SET', 'appendonly', 'no'],
    ['ACL', 'SETUSER', 'default', 'nopass'],
    ['ACL', 'LIST'],
    ['FLUSHALL'],
    ['FLUSHDB'],
    ['KEYS', '*'],
    ['SCAN', 0],
    ['RANDOMKEY'],
    ['SCRIPT', 'FLUSH'],
    ['FUNCTION', 'LIST'],
    ['MONITOR'],
    ['SHUTDOWN', 'NOSAVE'],
    ['REPLICAOF', 'NO', 'ONE'],
    ['CLIENT', 'LIST'],
    ['CLIENT', 'KILL', 'SKIPME', 'yes'],
    ['MODULE', 'LIST'],
    ['SAVE'],
    ['PUBLISH', 'channel', 'text'],
    ['GET', 'foreign'],
    ['SET', 'foreign', 'x'],
    // A script may do no more than its caller.
    ['EVAL', "return redis.call('GET', KEYS[1])", 1, 'foreign'],
    ['EVAL', "return redis.call('DBSIZE')", 0],
  ]
  test.each(REDIS_USERS.flatMap((user) => OF_NO_SERVICE.map((command) => [user, command.join(' '), command] as const)))(
    'the %s %s',
    async (user, _words, command) => {
      await refuse(user, command)
    },
  )

  const OF_OTHERS: [RedisUser, string, Command][] = [
    ['gateway', 'to read a stream token', ['GET', token]],
    ['gateway', 'to redeem a stream token', ['GETDEL', token]],
    ['gateway', 'to read a live stream', ['XREAD', 'STREAMS', stream, '0']],
    ['gateway', 'to write a live stream', ['XADD', stream, '*', 'batch', '{}']],
    ['gateway', 'to delete a live stream', ['DEL', stream]],
    ['executor-bridge', 'to read a live stream', ['XREAD', 'STREAMS', stream, '0']],
    ['executor-bridge', 'to redeem a stream token', ['GETDEL', token]],
    ['executor-bridge', 'to make a stream token', ['SET', token, 'x']],
    ['executor-bridge', 'to prolong a stream token', ['EXPIRE', token, 3_600]],
    ['executor-bridge', 'to change a stream session', ['HSET', sessions, 'id', 'x']],
    ['executor-bridge', 'to reset a limit', ['DEL', bucket]],
    ['executor-bridge', 'to run a script', ['EVAL', 'return 1', 0]],
    ['log-stream', 'to write a live stream', ['XADD', stream, '*', 'batch', '{}']],
    ['log-stream', 'to overwrite a live stream', ['SET', stream, 'x']],
    ['log-stream', 'to delete a live stream by redeeming it', ['GETDEL', stream]],
    ['log-stream', 'to write a live stream in a script', ['EVAL', "redis.call('SET', KEYS[1], 'x')", 1, stream]],
    ['log-stream', 'to make a stream token', ['SET', token, 'x']],
    ['log-stream', 'to continue a stream session', ['HSET', sessions, 'id', 'x']],
    ['log-stream', 'to end the lockout of an address', ['DEL', lock]],
    ['log-stream', 'to forget attempts to log in', ['DEL', attempts]],
    ['log-stream', 'to count wrong codes', ['SET', pendingToken, 0]],
    ['log-stream', 'to count wrong passwords', ['DECR', wrongPasswords]],
  ]
  test.each(OF_OTHERS)('the %s %s', async (user, _what, command) => {
    await refuse(user, command)
  })

  test.each(REDIS_USERS)('the %s another namespace', async (user) => {
    const redis = new Redis(serverUrl('REDIS_URL'))
    const [own] = aclUsersOf({ [serviceUrlVariable('REDIS_URL', user)]: urlOf(user) }, ['one'])
    const name = `${testNamespace()}-${user}`
    await redis.acl('SETUSER', name, ...(own?.rules ?? []))
    const answer = (command: Command) => redis.acl('DRYRUN', name, ...command)
    const COMMANDS: Record<RedisUser, (of: string) => Command> = {
      gateway: (of) => ['SET', sseTokenKey(of, 'hash'), 'x'],
      'executor-bridge': (of) => ['XADD', streamKey(of, 'id'), '*', 'batch', '{}'],
      'log-stream': (of) => ['GETDEL', sseTokenKey(of, 'hash')],
    }
    expect(await answer(COMMANDS[user]('one'))).toBe('OK')
    expect(await answer(COMMANDS[user]('another'))).not.toBe('OK')
    await redis.acl('DELUSER', name)
    redis.disconnect()
  })
})

test('a service waits for its user, and goes on when the user exists', async () => {
  const admin = new Redis(serverUrl('REDIS_URL'))
  const url = new URL(serverUrl('REDIS_URL'))
  url.username = testNamespace()
  const late = connectRedis({ url: url.href, name: 'late', logger: keptLog().logger })
  await new Promise((resolve) => late.once('error', resolve))
  await admin.acl('SETUSER', url.username, 'on', `>${url.password}`, '+ping', '+info')
  await waitFor(() => late.status === 'ready', { what: 'the late user' })
  expect(await late.ping()).toBe('PONG')
  late.disconnect()
  await admin.acl('DELUSER', url.username)
  admin.disconnect()
})

test('a service with the default user logs a warning, and one with its own user does not', async () => {
  const warnings = async (url: string) => {
    const { logger, written } = keptLog()
    const redis = connectRedis({ url, name: 'test', logger })
    warnOfDefaultUser(redis, logger)
    await new Promise((resolve) => redis.once('ready', resolve))
    // Redis answers in order, so WHOAMI is answered.
    await redis.ping()
    redis.disconnect()
    return written().split('may use all keys and commands').length - 1
  }
  expect(await warnings(serverUrl('REDIS_URL'))).toBe(1)
  expect(await warnings(urlOf('log-stream'))).toBe(0)
})

test('the ACL file has the administrator and the users of the given addresses, and no password', async () => {
  const users = aclUsersOf({ REDIS_URL_EXECUTOR_BRIDGE: 'redis://slipway_executor_bridge:s%C3%A9cret@host' }, [
    'slipway',
  ])
  const acl = aclFileOf(users, new URL('redis://:administrator@host'))
  expect(acl).not.toMatch(/s%C3%A9cret|sécret|administrator/)
  const redis = await startPrivate({ acl, password: 'administrator' })
  const anybody = new Redis(redis.url.replace(':administrator@', ''), {
    enableReadyCheck: false,
    // Protocol 3 logs in before the first command.
    protocol: 2,
    disableClientInfo: true,
  })
  await expect(anybody.ping()).rejects.toThrow(/^NOAUTH/)
  await expect(anybody.call('AUTH', 'slipway_executor_bridge', 'other')).rejects.toThrow(/^WRONGPASS/)
  await anybody.call('AUTH', 'slipway_executor_bridge', 'sécret')
  expect(await anybody.ping()).toBe('PONG')
  anybody.disconnect()
  expect(() => aclUsersOf({}, ['slipway'])).toThrow('no address of a user is set')
  expect(() => aclFileOf(users, new URL('redis://host'))).toThrow('REDIS_URL has no password')
})

test('the command sets passwords and rights anew, and says whether they survive a restart', async () => {
  const create = async (url: string, password: string) => {
    const command = path.join(repositoryRoot, 'packages/runtime/dist/redis/users/command.js')
    const env = {
      PATH: process.env['PATH'],
      REDIS_URL: url,
      REDIS_URL_LOG_STREAM: `redis://slipway_log_stream:${password}@host`,
    }
    const { stdout } = await promisify(execFile)(process.execPath, [command, 'create'], { env })
    return stdout
  }
  const usersOf = async (url: string) => {
    const redis = new Redis(url)
    const lines = (await redis.acl('LIST')) as string[]
    redis.disconnect()
    return lines.filter((line) => line.startsWith('user slipway_log_stream '))
  }
  const forgetful = await startPrivate()
  expect(await create(forgetful.url, 'one')).toContain('Redis did not save them')
  const [first] = await usersOf(forgetful.url)
  await create(forgetful.url, 'one')
  expect(await usersOf(forgetful.url)).toEqual([first])
  await create(forgetful.url, 'another')
  expect(await usersOf(forgetful.url)).not.toEqual([first])

  const keeping = await startPrivate({ acl: 'user default on >administrator ~* &* +@all\n', password: 'administrator' })
  expect(await create(keeping.url, 'one')).toBe('Users that can log in: slipway_log_stream\n')
  await keeping.kill()
  await keeping.start()
  expect(await usersOf(keeping.url)).toHaveLength(1)
})
