import type { Queryable, Records } from '@slipway/database'
import { conflict } from '@slipway/domain'
import { LOCK_COMPOSITION, USES } from './uses.sql.ts'

const NAMED = 5

/**
 * Call this with the record locked. A finished deployment does not use its source and targets, because it stores their names. It
 * does use its tenant and environment.
 * @throws Problem CONFLICT that names what uses the record
 */
export async function requireUnused(tx: Queryable, kind: keyof typeof USES, id: string): Promise<void> {
  const rows = await USES[kind].all(tx, { id })
  if (rows.length === 0) return
  const uses = rows.map(({ what }) => what)
  const named = uses.slice(0, NAMED).join(', ')
  const more = uses.length > NAMED ? ` and ${uses.length - NAMED} more` : ''
  throw conflict(`The ${kind} is in use by ${named}${more}`)
}

/**
 * Keeps a source from being deleted while a version with it is published. The ids are in the JSON of the definition, so no foreign
 * key protects them.
 */
export async function lockComposition(tx: Queryable, mode: keyof typeof LOCK_COMPOSITION): Promise<void> {
  await LOCK_COMPOSITION[mode].run(tx)
}

/** @throws Problem CONFLICT if one of these sources has been deleted meanwhile */
export async function requireStillThere(prisma: Records, sourceIds: readonly string[]): Promise<void> {
  const ids = [...new Set(sourceIds)]
  const there = await prisma.source.count({ where: { id: { in: ids } } })
  if (there < ids.length)
    throw conflict('A source in the definition has just been deleted: remove it from the definition')
}
