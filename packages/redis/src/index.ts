export type { Redis } from 'ioredis'
export { connectRedis, isRedisUp, type RedisConnectionOptions } from './connect.ts'
