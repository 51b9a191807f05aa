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

/**
 * Keeps a caller from undoing a change that it has not seen.
 * @param expected `updated_at` as the caller has read it; without it, there is no check
 * @throws Problem CONFLICT if the record, which is locked, was changed since then
 */
export function requireUnchanged(
  what: string,
  { updated_at }: { updated_at: Date },
  expected: string | undefined,
): void {
  if (expected === undefined || new Date(expected).getTime() === updated_at.getTime()) return
  const changed = updated_at.toISOString()
  throw conflict(`${what} was changed at ${changed}, after it was read: read it again, then change it`, {
    expected_updated_at: expected,
    updated_at: changed,
  })
}

/** The time of a change. Later than that of the change before, whichever gateway made it: two states never have the same time. */
export const timeOfChange = ({ updated_at }: { updated_at: Date }): Date =>
  new Date(Math.max(Date.now(), updated_at.getTime() + 1))

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

/** What another record has already: the field of the body, and a sentence about it. */
export interface Taken {
  /** A JSON pointer; empty if it is not known which field it is. */
  path: string
  message: string
}

/** Turns a unique violation of the write into a CONFLICT that names the field. It may be read after the write has failed. */
export async function conflictIfTaken<T>(taken: Taken | (() => Promise<Taken>), write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    const { path, message } = typeof taken === 'function' ? await taken() : taken
    throw conflict(message, path === '' ? undefined : { errors: [{ path, message }] })
  }
}
