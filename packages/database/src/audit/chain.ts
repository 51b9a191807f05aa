import { createHash } from 'node:crypto'
import type { Queryable } from '../sql/statement.ts'
import { countRecords, findDropped, findHead, findSettled } from './chain.sql.ts'

/** Stands for the hash before the first link. */
const CHAIN_START = '0'.repeat(64)

/** The hash over the previous hash and the record. */
export const linkHash = (previous: string, canonical: string): string =>
  createHash('sha256').update(previous).update('\n').update(canonical).digest('hex')

/** The last link. Its hash depends on all links before it. */
export interface ChainHead {
  position: number
  hash: string
}

/** The link before the first stored link: the last one that retention dropped. */
export const chainStart = async (db: Queryable): Promise<ChainHead> =>
  (await findDropped.first(db)) ?? { position: 0, hash: CHAIN_START }

export const chainHead = async (db: Queryable): Promise<ChainHead> =>
  (await findHead.first(db)) ?? { position: 0, hash: CHAIN_START }

export const settledNumber = async (db: Queryable): Promise<number> => (await findSettled.first(db))?.number ?? 0

/** Counts all records exactly, without reading them. */
export const auditCount = async (db: Queryable): Promise<number> =>
  (await countRecords.one(db, { settled: await settledNumber(db) })).total
