import { serviceUrls } from '@slipway/runtime'
import { BROKER_USERS, type Permissions, permissionsOf } from './rights.ts'

/** Definitions as RabbitMQ imports them: `rabbitmqctl import_definitions`, or POST /api/definitions of the management plugin. */
export interface Definitions {
  users: { name: string; password: string; tags: string[] }[]
  permissions: ({ user: string; vhost: string } & Permissions)[]
}

/**
 * A user with its rights for each RABBITMQ_URL_… of the environment. Importing them again sets the passwords and rights anew.
 * @param namespace a regular expression: what the names of queues begin with
 * @throws Error for an address of another user, or where there is none
 */
export function definitionsOf(
  environment: Record<string, string | undefined>,
  namespace: string,
  prefix?: string,
): Definitions {
  const definitions: Definitions = { users: [], permissions: [] }
  for (const [service, url] of serviceUrls('RABBITMQ_URL', BROKER_USERS, environment, prefix)) {
    const user = decodeURIComponent(url.username)
    definitions.users.push({ name: user, password: decodeURIComponent(url.password), tags: [] })
    definitions.permissions.push({ user, vhost: vhostOf(url), ...permissionsOf(service, namespace) })
  }
  if (definitions.users.length === 0) throw new Error('no address of a user is set, see --help')
  return definitions
}

/** Without a path an address means the virtual host `/`, as in amqplib. */
const vhostOf = ({ pathname }: URL) =>
  pathname === '' || pathname === '/' ? '/' : decodeURIComponent(pathname.slice(1))
