import { DEFAULT_USER_PREFIX, exportServiceUrls, serviceUrlVariable, serviceUser, sleep } from '@slipway/runtime'
import { Redis, ReplyError } from 'ioredis'
import { REDIS_USERS } from './rights.ts'
import { aclFileOf, aclUsersOf } from './users.ts'

const USAGE = `Usage: node packages/redis/dist/users/command.js COMMAND

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
/** Redis may be starting at the same time: attempts go on for two minutes. */
const TRIES = 60
const BETWEEN_MS = 2_000

const say = (line: string) => process.stdout.write(`${line}\n`)

const setting = (name: string) => process.env[name] || undefined
const demand = (name: string): string => {
  const value = setting(name)
  if (value === undefined) throw new Error(`${name} is not set\n\n${USAGE}`)
  return value
}

const users = () => {
  const namespaces = (setting('SLIPWAY_NAMESPACE_GLOBS') ?? setting('SLIPWAY_NAMESPACE') ?? 'slipway').split(',')
  return aclUsersOf(process.env, namespaces, setting('SLIPWAY_ROLE_PREFIX'))
}

async function connected(url: string): Promise<Redis> {
  for (let attempt = 1; ; attempt += 1) {
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
      if (attempt === TRIES) throw error
      await sleep(BETWEEN_MS)
    }
  }
}

const commands: Record<string, () => Promise<void> | void> = {
  async create() {
    const wanted = users()
    const redis = await connected(demand('REDIS_URL'))
    try {
      for (const { name, rules } of wanted) await redis.acl('SETUSER', name, ...rules)
      say(`Users that can log in: ${wanted.map(({ name }) => name).join(', ')}`)
      await redis.acl('SAVE').catch((error: Error) => {
        if (!(error instanceof ReplyError)) throw error
        say(`Redis did not save them: create them again after its restart, or give it an aclfile (${error.message})`)
      })
    } finally {
      redis.disconnect()
    }
  },
  definitions() {
    process.stdout.write(aclFileOf(users(), new URL(demand('REDIS_URL'))))
  },
  addresses() {
    const lines = exportServiceUrls('REDIS_URL', REDIS_USERS, demand('REDIS_URL'), setting('SLIPWAY_ROLE_PREFIX'))
    for (const line of lines) say(line)
  },
}

async function main(name = ''): Promise<void> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) {
    process.stderr.write(USAGE)
    process.exitCode = 2
    return
  }
  await command()
}

await main(process.argv[2]).catch((error: Error) => {
  process.stderr.write(`${error.message || String(error)}\n`)
  process.exitCode = 1
})
