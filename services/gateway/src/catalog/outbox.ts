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

/** Whose a record is from now on, and whose it was where that is another: they are told that it is gone. */
export const whose = (old: { tenant_id: string | null }, tenant_id: string | null) =>
  old.tenant_id === tenant_id ? { tenant_id } : { tenant_id, previous_tenant_id: old.tenant_id }
