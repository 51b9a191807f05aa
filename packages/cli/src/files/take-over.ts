import type { Change } from './change.ts'
import type { CatalogEntry } from './load.ts'
import type { ServerRecord } from './server.ts'

/**
 * Adds the change of the manager to the changes of a record that has another one, or none. A record that needs no change keeps
 * its manager, unless `always`: two file sets may describe a shared record in the same way.
 */
export function markTakeOver(
  entry: CatalogEntry,
  changes: Change[],
  existing: Pick<ServerRecord, 'managed_by'> | undefined,
  manager: string | null,
  always: boolean,
): Change[] {
  const before = existing?.managed_by ?? null
  if (!existing || before === manager || (changes.length === 0 && !always)) return changes
  const difference = { path: 'managed_by', from: before ?? undefined, to: manager ?? undefined }
  const change = changes.find(({ what }) => what === 'change') ?? { entry, what: 'change' as const, differences: [] }
  const others = changes.filter((one) => one !== change)
  // The label comes first: if a later change fails, the next apply needs no second confirmation.
  return [{ ...change, differences: [...change.differences, difference] }, ...others].map((one) => ({
    ...one,
    takenFrom: before,
  }))
}

/** Lists the records to take over, each once. */
export function listTakeOvers(changes: readonly Change[]): { entry: CatalogEntry; from: string | null }[] {
  const found = new Map<CatalogEntry, string | null>()
  for (const { entry, takenFrom } of changes) if (takenFrom !== undefined) found.set(entry, takenFrom)
  return [...found].map(([entry, from]) => ({ entry, from }))
}
