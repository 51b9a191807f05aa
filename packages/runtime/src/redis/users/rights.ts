import {
  bucketKey,
  cliCodeKey,
  exchangeKey,
  loginKeys,
  oidcLoginKey,
  pendingTokenKey,
  sseSessionsKey,
  sseTokenKey,
  streamKey,
  wrongPasswordsKey,
} from '../keys.ts'

/**
 * What each service may do in Redis. This file is the only source: the rules of the users are made from it. What is not listed here
 * is refused. Redis also checks the commands that scripts call, so the commands of scripts are listed as well.
 */

/** One user for each. */
export const REDIS_USERS = ['gateway', 'executor-bridge', 'log-stream'] as const
export type RedisUser = (typeof REDIS_USERS)[number]

/** Commands on some keys: a selector of Redis 7. Earlier versions cannot bind commands to keys. */
interface Grant {
  keys: readonly string[]
  commands: readonly string[]
}

/** Commands without keys, of every connection. INFO says whether Redis still loads its data. */
const CONNECTION = ['ping', 'info', 'select', 'acl|whoami']
/** ioredis sends EVAL if Redis does not know the script. */
const SCRIPT = ['eval', 'evalsha']

interface Rights {
  /** Commands without keys. */
  commands: readonly string[]
  /** `namespace` is a glob pattern: what the keys begin with. */
  grants: (namespace: string) => readonly Grant[]
}

const bucketsOf = (namespace: string): Grant => ({
  keys: [bucketKey(namespace, '*')],
  commands: [...SCRIPT, 'get', 'set'],
})

const RIGHTS: Record<RedisUser, Rights> = {
  gateway: {
    commands: ['multi', 'exec', 'time'],
    grants(namespace) {
      const login = loginKeys(namespace, '*')
      const sessions = sseSessionsKey(namespace, '*')
      const tokens = sseTokenKey(namespace, '*')
      return [
        bucketsOf(namespace),
        { keys: [login.attempts, login.lock], commands: SCRIPT },
        { keys: [login.attempts], commands: ['lindex', 'lpush', 'ltrim', 'pexpire', 'del'] },
        { keys: [login.lock], commands: ['pttl', 'set'] },
        { keys: [exchangeKey(namespace, '*')], commands: [...SCRIPT, 'lindex', 'lpush', 'ltrim', 'pexpire'] },
        { keys: [sessions, tokens], commands: ['eval'] },
        { keys: [sessions], commands: ['hget', 'hset', 'hdel', 'hlen', 'hkeys', 'expire'] },
        { keys: [tokens], commands: ['set'] },
        { keys: [oidcLoginKey(namespace, '*'), cliCodeKey(namespace, '*')], commands: ['set', 'getdel'] },
        {
          keys: [pendingTokenKey(namespace, '*'), wrongPasswordsKey(namespace, '*')],
          commands: ['set', 'incr', 'decr', 'ttl', 'del'],
        },
      ]
    },
  },
  'executor-bridge': {
    commands: [],
    grants: (namespace) => [{ keys: [streamKey(namespace, '*')], commands: ['xadd', 'expire'] }],
  },
  'log-stream': {
    commands: ['time', 'client|id', 'client|unblock'],
    grants: (namespace) => [
      bucketsOf(namespace),
      { keys: [streamKey(namespace, '*')], commands: ['xread', 'xrevrange'] },
      { keys: [sseTokenKey(namespace, '*')], commands: ['getdel'] },
    ],
  },
}

/** The rules of a user, as `ACL SETUSER` takes them. `namespaces` are glob patterns: what the keys begin with. */
export function aclRulesOf(user: RedisUser, namespaces: readonly string[]): string[] {
  const { commands, grants } = RIGHTS[user]
  const allow = (names: readonly string[]) => names.map((name) => `+${name}`)
  return [
    ...allow([...CONNECTION, ...commands]),
    ...namespaces
      .flatMap((namespace) => grants(namespace))
      .map((grant) => `(${[...grant.keys.map((key) => `~${key}`), ...allow(grant.commands)].join(' ')})`),
  ]
}
