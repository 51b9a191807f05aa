import { type KeyRing, sealedKeyId } from '@slipway/runtime'
import type { Database, Queryable } from '../database.ts'
import { SEALED_PLACES, type SealedPlace } from './sealed-places.ts'

export interface ResealProgress {
  place: string
  /** Rows looked at, and of these the ones whose secrets were sealed anew. */
  rows: number
  resealed: number
}

interface Row {
  place: unknown[]
  value: string | null
}

/**
 * Seals every secret in the database under the newest key of the ring. Goes on while services work: a row that somebody
 * changes meanwhile is waited for and then read as it is. Stopped at any moment, the next call does what is left.
 * @throws SecretError where a secret needs a key that the ring has not
 */
export async function resealAll(
  database: Database,
  keys: KeyRing,
  onPlace: (progress: ResealProgress) => void = () => {},
): Promise<void> {
  for (const place of SEALED_PLACES) {
    const progress = { place: `${place.table}.${place.column}`, rows: 0, resealed: 0 }
    let after: unknown[] | null = null
    do {
      const batch: Batch = await database.transaction((tx) => resealBatch(tx, keys, place, after))
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
  /** The key of the last row; null when there are no more. */
  last: unknown[] | null
}

async function resealBatch(tx: Queryable, keys: KeyRing, place: SealedPlace, after: unknown[] | null): Promise<Batch> {
  const rows = await lockBatch(tx, place, after)
  const changed = rows.flatMap(({ place: key, value }) => {
    const resealed = value === null ? null : reseal(keys, value, place.json)
    return resealed === null || resealed === value ? [] : [{ key, resealed }]
  })
  if (changed.length > 0) await write(tx, place, changed)
  return {
    rows: rows.length,
    resealed: changed.length,
    last: rows.length < place.batch ? null : (rows.at(-1)?.place ?? null),
  }
}

async function lockBatch(
  tx: Queryable,
  { table, key, column, batch }: SealedPlace,
  after: unknown[] | null,
): Promise<Row[]> {
  const columns = Object.keys(key).join(', ')
  const bounds = Object.values(key).map((type, index) => `$${index + 2}::${type}`)
  const { rows } = await tx.query<Row>(
    `SELECT json_build_array(${columns}) AS place, ${column}::text AS value FROM ${table}
      ${after === null ? '' : `WHERE (${columns}) > (${bounds.join(', ')})`}
      ORDER BY ${columns} LIMIT $1 FOR NO KEY UPDATE`,
    [batch, ...(after ?? [])],
  )
  return rows
}

async function write(
  tx: Queryable,
  { table, key, column, json }: SealedPlace,
  changed: readonly { key: unknown[]; resealed: string }[],
): Promise<void> {
  const types = Object.entries(key)
  const arrays = types.map(([, type], index) => `$${index + 2}::${type}[]`)
  await tx.query(
    `UPDATE ${table} t SET ${column} = n.value${json ? '::jsonb' : ''}
       FROM unnest($1::text[], ${arrays.join(', ')}) AS n (value, ${types.map((_, index) => `key_${index}`).join(', ')})
      WHERE ${types.map(([name], index) => `t.${name} = n.key_${index}`).join(' AND ')}`,
    [changed.map(({ resealed }) => resealed), ...types.map((_, index) => changed.map((row) => row.key[index]))],
  )
}

/** The value with every secret in it under the newest key. In JSON, what stands beside `$sealed` is left as it is. */
function reseal(keys: KeyRing, value: string, json: boolean): string {
  if (!json) return keys.rewrap(value)
  return value.replace(/("\$sealed"\s*:\s*)"([^"\\]*)"/g, (whole, name: string, sealed: string) =>
    isSealed(sealed) ? `${name}"${keys.rewrap(sealed)}"` : whole,
  )
}

/** Data of a user may have such a key, and then holds something else under it. */
function isSealed(text: string): boolean {
  try {
    return sealedKeyId(text) !== ''
  } catch {
    return false
  }
}
