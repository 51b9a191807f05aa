import type { Prisma, Queryable } from '@slipway/database'

/** Lets `enqueue` write into a transaction that Prisma opened. */
export function inPrisma(tx: Prisma.TransactionClient): Pick<Queryable, 'query'> {
  return {
    async query(text: string, values: unknown[] = []) {
      const rowCount = await tx.$executeRawUnsafe(text, ...values)
      return { command: '', rowCount, oid: 0, fields: [], rows: [] }
    },
  }
}
