import { isUniqueViolation, type Queryable } from '@slipway/database'
import { conflict } from '@slipway/domain'
import { LOCKS } from './changing.sql.ts'

/** Locks a record until the transaction ends. A concurrent change waits and then sees this one. */
export async function lockRecord(tx: Queryable, table: keyof typeof LOCKS, id: string): Promise<void> {
  await LOCKS[table].run(tx, { id })
}

/** The old and new values of the changed fields, for the audit log. Not for secrets. */
export function changesOf(before: object, after: object): Record<string, { from: unknown; to: unknown }> {
  const old = before as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(after)
      .filter(([field, to]) => to !== undefined && JSON.stringify(to) !== JSON.stringify(old[field]))
      .map(([field, to]) => [field, { from: old[field], to }]),
  )
}

/** Those of these fields that the body contains. */
export function pickGiven<B extends object, F extends keyof B>(body: B, fields: readonly F[]): Pick<B, F> {
  return Object.fromEntries(
    fields.filter((field) => body[field] !== undefined).map((field) => [field, body[field]]),
  ) as Pick<B, F>
}

/** Turns a unique violation of the write into a CONFLICT with this message. It may be read after the write has failed. */
export async function conflictIfTaken<T>(
  message: string | (() => Promise<string>),
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw conflict(typeof message === 'string' ? message : await message())
  }
}

/** The tenants in the event of a change. A previous tenant is named, because its users see the record disappear. */
export const tenantChange = (old: { tenant_id: string | null }, tenant_id: string | null) =>
  old.tenant_id === tenant_id ? { tenant_id } : { tenant_id, previous_tenant_id: old.tenant_id }
