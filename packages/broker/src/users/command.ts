import {
  type Administration,
  DEFAULT_USER_PREFIX,
  exportServiceUrls,
  onceReachable,
  optionalSetting,
  requiredSetting,
  runAdministration,
  serviceUrlVariable,
  serviceUser,
} from '@slipway/runtime'
import { definitionsOf } from './definitions.ts'
import { BROKER_USERS } from './rights.ts'

const USAGE = `Usage: node packages/broker/dist/users/command.js COMMAND

  create       creates the users of the services in RabbitMQ, or sets their passwords and rights anew, by the management plugin at
               RABBITMQ_MANAGEMENT_URL (http://USER:PASSWORD@HOST:15672; the user is an administrator)
  definitions  prints the same users for \`rabbitmqctl import_definitions\`
               Each user has the name and password of its own address:
${BROKER_USERS.map((user) => `                 ${serviceUrlVariable('RABBITMQ_URL', user).padEnd(28)} user ${serviceUser(user)}`).join('\n')}
               A user without address is left as it is.
  addresses    prints those variables for users on the server of RABBITMQ_URL, with its password for each

  SLIPWAY_NAMESPACE     what the names of the queues begin with, slipway if it is not set
  SLIPWAY_ROLE_PREFIX   the beginning of the names of the users, ${DEFAULT_USER_PREFIX} if it is not set
  SLIPWAY_NAMESPACE_PATTERN  a regular expression in place of SLIPWAY_NAMESPACE, for users of several namespaces
`

const CALL_MS = 10_000
const say = (line: string) => process.stdout.write(`${line}\n`)

const definitions = () => {
  const namespace = (optionalSetting('SLIPWAY_NAMESPACE') ?? 'slipway').replaceAll('.', '\\.')
  return definitionsOf(
    process.env,
    optionalSetting('SLIPWAY_NAMESPACE_PATTERN') ?? namespace,
    optionalSetting('SLIPWAY_ROLE_PREFIX'),
  )
}

const commands: Administration['commands'] = {
  async create() {
    const url = new URL('/api/definitions', requiredSetting('RABBITMQ_MANAGEMENT_URL', USAGE))
    const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    url.username = url.password = ''
    const definition = definitions()
    const post = async () => {
      const answer = await fetch(url, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(login).toString('base64')}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(definition),
        signal: AbortSignal.timeout(CALL_MS),
      })
      if (!answer.ok) throw new Refused(`RabbitMQ refused the users: ${answer.status} ${await answer.text()}`)
    }
    await onceReachable(post, (error) => error instanceof Refused)
    say(`Users that can log in: ${definition.users.map(({ name }) => name).join(', ')}`)
  },
  definitions() {
    say(JSON.stringify(definitions(), null, 2))
  },
  addresses() {
    const lines = exportServiceUrls(
      'RABBITMQ_URL',
      BROKER_USERS,
      requiredSetting('RABBITMQ_URL', USAGE),
      optionalSetting('SLIPWAY_ROLE_PREFIX'),
    )
    for (const line of lines) say(line)
  },
}

class Refused extends Error {}

await runAdministration({ usage: USAGE, commands })
