import type { PrismaTransaction, Queryable } from '@slipway/database'
import { conflict } from '@slipway/domain'
import { LOCK_COMPOSITION, USES } from './uses.sql.ts'

const NAMED = 5

/**
 * Call it with the record locked. A finished deployment does not use its source and targets, of which it keeps the names;
 * a tenant or an environment is in use as long as any record carries it.
 * @throws Problem CONFLICT that says what uses the record
 */
export async function requireUnused(tx: Queryable, kind: keyof typeof USES, id: string): Promise<void> {
  const rows = await USES[kind].all(tx, { id })
  if (rows.length === 0) return
  const users = rows.map(({ what }) => what)
  const named = users.slice(0, NAMED).join(', ')
  const more = users.length > NAMED ? ` and ${users.length - NAMED} more` : ''
  throw conflict(`The ${kind} is in use by ${named}${more}`)
}

/**
 * Publishing a version and deleting a source exclude each other, so that no version is published of what is just being
 * deleted: what a version is made of stands in its definition, where no foreign key looks.
 */
export async function lockComposition(tx: Queryable, mode: keyof typeof LOCK_COMPOSITION): Promise<void> {
  await LOCK_COMPOSITION[mode].run(tx)
}

/** @throws Problem CONFLICT when one of these sources, which were there a moment ago, has been deleted */
export async function requireStillThere(tx: PrismaTransaction, sourceIds: readonly string[]): Promise<void> {
  const ids = [...new Set(sourceIds)]
  const there = await tx.source.count({ where: { id: { in: ids } } })
  if (there < ids.length) throw conflict('A source that the definition is made of has just been deleted')
}
