export type { PoolClient, QueryResultRow } from 'pg'
export { createDatabase, type Database, type DatabaseOptions, isConnectionError, type Queryable } from './database.ts'
export { Prisma, type PrismaClient } from './generated/client.ts'
export { commandMessage, enqueue, eventMessage, type OutboxMessage, type RelayOptions, startRelay } from './outbox.ts'
