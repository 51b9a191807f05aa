import type { Permission } from '@slipway/contracts'
import { isUniqueViolation, type Queryable } from '@slipway/database'
import { conflict, insufficientPermissions } from '@slipway/domain'
import type { Viewer } from '../tenancy/visibility.ts'
import { LOCKS } from './changing.sql.ts'

/**
 * Records that are shared by all tenants can be read and used by a tenant, not changed.
 * @throws Problem INSUFFICIENT_PERMISSIONS
 */
export function requireOwn(caller: Viewer, record: { tenant_id: string | null }, permission: Permission): void {
  if (caller.tenant_id !== null && record.tenant_id === null) {
    throw insufficientPermissions(`${permission} for shared records, which only users of no tenant have`)
  }
}

/** Locks a record until the transaction ends, so that of two changes at once the second sees the first. */
export async function lockRecord(tx: Queryable, table: keyof typeof LOCKS, id: string): Promise<void> {
  await LOCKS[table].run(tx, { id })
}

/**
 * The fields that a change gives another value, with both, for the audit log. Not for secrets: of those only that they
 * changed may be told.
 */
export function changesOf(before: object, after: object): Record<string, { from: unknown; to: unknown }> {
  const old = before as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(after)
      .filter(([field, to]) => to !== undefined && JSON.stringify(to) !== JSON.stringify(old[field]))
      .map(([field, to]) => [field, { from: old[field], to }]),
  )
}

/** The given one of these fields, for those that are kept as they come. */
export function given<B extends object, F extends keyof B>(body: B, fields: readonly F[]): Pick<B, F> {
  return Object.fromEntries(
    fields.filter((field) => body[field] !== undefined).map((field) => [field, body[field]]),
  ) as Pick<B, F>
}

/** Runs a write; a name that is taken is told in these words. */
export async function orTaken<T>(message: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw conflict(message)
  }
}

/** Whose a record is from now on, and whose it was where that is another: they are told that it is gone. */
export const whose = (old: { tenant_id: string | null }, tenant_id: string | null) =>
  old.tenant_id === tenant_id ? { tenant_id } : { tenant_id, previous_tenant_id: old.tenant_id }
