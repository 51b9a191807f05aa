import { Redis, ReplyError } from 'ioredis'
import {
  type Administration,
  onceReachable,
  optionalSetting,
  requiredSetting,
  runAdministration,
} from '../../administration.ts'
import { DEFAULT_USER_PREFIX, exportServiceUrls, serviceUrlVariable, serviceUser } from '../../service-users.ts'
import { REDIS_USERS } from './rights.ts'
import { aclFileOf, aclUsersOf } from './users.ts'

const USAGE = `Usage: node packages/runtime/dist/redis/users/command.js COMMAND

  create       creates the users of the services in Redis, or sets their passwords and rights anew, as the administrator of REDIS_URL.
               Redis saves them if it has an ACL file (\`aclfile\`); otherwise they are gone after its restart
  definitions  prints an ACL file with the same users and the administrator of REDIS_URL; it connects to nothing
               Each user has the name and password of its own address:
${REDIS_USERS.map((user) => `                 ${serviceUrlVariable('REDIS_URL', user).padEnd(25)} user ${serviceUser(user)}`).join('\n')}
               A user without address is left as it is.
  addresses    prints those variables for users on the server of REDIS_URL, with its password for each

  SLIPWAY_NAMESPACE         what the names of the keys begin with, slipway if it is not set
  SLIPWAY_ROLE_PREFIX       the beginning of the names of the users, ${DEFAULT_USER_PREFIX} if it is not set
  SLIPWAY_NAMESPACE_GLOBS   glob patterns, comma separated, in place of SLIPWAY_NAMESPACE, for users of several namespaces
`

const CALL_MS = 10_000
const say = (line: string) => process.stdout.write(`${line}\n`)

const users = () => {
  const namespaces = (
    optionalSetting('SLIPWAY_NAMESPACE_GLOBS') ??
    optionalSetting('SLIPWAY_NAMESPACE') ??
    'slipway'
  ).split(',')
  return aclUsersOf(process.env, namespaces, optionalSetting('SLIPWAY_ROLE_PREFIX'))
}

async function connected(url: string): Promise<Redis> {
  const redis = new Redis(url, {
    lazyConnect: true,
    commandTimeout: CALL_MS,
    disableClientInfo: true,
    retryStrategy: () => null,
  })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return redis
  } catch (error) {
    redis.disconnect()
    throw error
  }
}

const commands: Administration['commands'] = {
  async create() {
    const logins = users()
    const url = requiredSetting('REDIS_URL', USAGE)
    const redis = await onceReachable(
      () => connected(url),
      () => false,
    )
    try {
      for (const { name, rules } of logins) await redis.acl('SETUSER', name, ...rules)
      say(`Users that can log in: ${logins.map(({ name }) => name).join(', ')}`)
      await redis.acl('SAVE').catch((error: Error) => {
        if (!(error instanceof ReplyError)) throw error
        say(`Redis did not save them: create them again after its restart, or give it an aclfile (${error.message})`)
      })
    } finally {
      redis.disconnect()
    }
  },
  definitions() {
    process.stdout.write(aclFileOf(users(), new URL(requiredSetting('REDIS_URL', USAGE))))
  },
  addresses() {
    const lines = exportServiceUrls(
      'REDIS_URL',
      REDIS_USERS,
      requiredSetting('REDIS_URL', USAGE),
      optionalSetting('SLIPWAY_ROLE_PREFIX'),
    )
    for (const line of lines) say(line)
  },
}

await runAdministration({ usage: USAGE, commands })
