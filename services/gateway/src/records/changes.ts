import { isUniqueViolation } from '@slipway/database'
import { conflict } from '@slipway/domain'

/** The old and new values of the changed fields, for the audit log. Not for secrets. */
export function changesOf(before: object, after: object): Record<string, { from: unknown; to: unknown }> {
  const old = before as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(after)
      .filter(([field, to]) => to !== undefined && JSON.stringify(to) !== JSON.stringify(old[field]))
      .map(([field, to]) => [field, { from: old[field], to }]),
  )
}

/** Those of these fields that the body of a change contains. */
export function pickGiven<B extends object, F extends keyof B>(body: B, fields: readonly F[]): Pick<B, F> {
  return Object.fromEntries(
    fields.filter((field) => body[field] !== undefined).map((field) => [field, body[field]]),
  ) as Pick<B, F>
}

/** These fields of the body of a create; null for those that it leaves out. */
export function orNull<B extends object, F extends keyof B>(
  body: B,
  fields: readonly F[],
): { [K in F]-?: Exclude<B[K], undefined> | null } {
  return Object.fromEntries(fields.map((field) => [field, body[field] ?? null])) as {
    [K in F]-?: Exclude<B[K], undefined> | null
  }
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
