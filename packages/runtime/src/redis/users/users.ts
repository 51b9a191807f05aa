import { createHash } from 'node:crypto'
import { serviceUrls } from '../../service-users.ts'
import { aclRulesOf, REDIS_USERS } from './rights.ts'

/** A user of Redis: what `ACL SETUSER` takes, and a line of an ACL file. */
export interface RedisAclUser {
  name: string
  rules: string[]
}

/**
 * A user with its rights for each REDIS_URL_… of the environment. The rules begin with a reset, so setting them again replaces
 * password and rights.
 * @param namespaces glob patterns: what the keys begin with
 * @throws Error for an address of another user, or where there is none
 */
export function aclUsersOf(
  environment: Record<string, string | undefined>,
  namespaces: readonly string[],
  prefix?: string,
): RedisAclUser[] {
  const users = [...serviceUrls('REDIS_URL', REDIS_USERS, environment, prefix)].map(([service, url]) => ({
    name: decodeURIComponent(url.username),
    rules: ['reset', 'on', passwordRule(url), ...aclRulesOf(service, namespaces)],
  }))
  if (users.length === 0) throw new Error('no address of a user is set, see --help')
  return users
}

/**
 * The contents of an ACL file with these users and the administrator of `url`. Redis lets everybody in without a password if its
 * ACL file does not name the user `default`.
 * @throws Error without a password of the administrator
 */
export function aclFileOf(users: readonly RedisAclUser[], url: URL): string {
  if (url.password === '') throw new Error('REDIS_URL has no password: it must be that of the administrator')
  const name = decodeURIComponent(url.username) || DEFAULT_USER
  const administrator = { name, rules: ['on', passwordRule(url), '~*', '&*', '+@all'] }
  const others = name === DEFAULT_USER ? [] : [{ name: DEFAULT_USER, rules: ['reset', 'off'] }]
  return [...others, administrator, ...users].map((user) => `user ${[user.name, ...user.rules].join(' ')}\n`).join('')
}

/** The user of addresses without a user name. */
export const DEFAULT_USER = 'default'

/** The hash, as `ACL SAVE` writes it: no password is in a file or a log of Redis. */
const passwordRule = ({ password }: URL) =>
  `#${createHash('sha256').update(decodeURIComponent(password)).digest('hex')}`
