// Connections to Redis, the keys of what is stored there, and the users of the services with their rights.

export type { Redis } from 'ioredis'
export { connectRedis, isRedisUp, type RedisConnectionOptions, warnOfDefaultUser } from './connect.ts'
export {
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
} from './keys.ts'
export { REDIS_USERS, type RedisUser } from './users/rights.ts'
export { aclFileOf, aclUsersOf, type RedisAclUser } from './users/users.ts'
