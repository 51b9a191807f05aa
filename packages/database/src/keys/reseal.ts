import { type KeyRing, sealedKeyId } from '@slipway/runtime'
import type { Database } from '../database.ts'
import type { Queryable } from '../queryable.ts'
import { RESEALING } from './reseal.sql.ts'

export interface ResealProgress {
  place: string
  /** The rows that were read, and the rows with secrets that were sealed again. */
  rows: number
  resealed: number
}

type Resealing = (typeof RESEALING)[number]

/**
 * Seals every secret in the database under the newest key of the ring. Services may run meanwhile: it waits for rows that
 * others change, then reads them again. It can be stopped at any moment; the next call continues.
 * @throws SecretError for a secret that needs a key that is not in the ring
 */
export async function resealAll(
  database: Database,
  keys: KeyRing,
  onPlace: (progress: ResealProgress) => void = () => {},
): Promise<void> {
  for (const resealing of RESEALING) {
    const { table, column } = resealing.place
    const progress = { place: `${table}.${column}`, rows: 0, resealed: 0 }
    let after: unknown[] | null = resealing.first
    do {
      const from: unknown[] = after
      const batch: Batch = await database.transaction((tx) => resealBatch(tx, keys, resealing, from))
      progress.rows += batch.rows
      progress.resealed += batch.resealed
      after = batch.last
    } while (after !== null)
    onPlace(progress)
  }
}

interface Batch {
  rows: number
  resealed: number
  /** The key of the last row; null after the last batch. */
  last: unknown[] | null
}

async function resealBatch(
  tx: Queryable,
  keys: KeyRing,
  { place, lock, write }: Resealing,
  after: unknown[],
): Promise<Batch> {
  const keyed = (partOf: (index: number) => unknown) =>
    Object.fromEntries(Object.keys(place.key).map((name, index) => [name, partOf(index)]))
  const rows = await lock.all(tx, { ...keyed((index) => after[index]), limit: place.batch })
  const changed = rows.flatMap(({ key, value }) => {
    const resealed = value === null ? null : reseal(keys, value, place.json)
    return resealed === null || resealed === value ? [] : [{ key, resealed }]
  })
  if (changed.length > 0) {
    const values = changed.map(({ resealed }) => resealed)
    await write.run(tx, { ...keyed((index) => changed.map(({ key }) => key[index])), values })
  }
  return {
    rows: rows.length,
    resealed: changed.length,
    last: rows.length < place.batch ? null : (rows.at(-1)?.key ?? null),
  }
}

/** The value with every secret sealed under the newest key. In JSON, fields beside `$sealed` stay as they are. */
function reseal(keys: KeyRing, value: string, json: boolean): string {
  if (!json) return keys.rewrap(value)
  return value.replace(/("\$sealed"\s*:\s*)"([^"\\]*)"/g, (whole, name: string, sealed: string) =>
    isSealed(sealed) ? `${name}"${keys.rewrap(sealed)}"` : whole,
  )
}

/** Users' data may contain such a key with another value. */
function isSealed(text: string): boolean {
  try {
    return sealedKeyId(text) !== ''
  } catch {
    return false
  }
}
