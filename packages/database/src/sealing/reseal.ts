import { type KeyRing, sealedKeyId } from '@slipway/runtime'
import type { Database } from '../database.ts'
import { type Queryable, statement } from '../sql/statement.ts'
import { array, int4, int8, json, nullable, text, uuid } from '../sql/types.ts'
import { SEALED_PLACES, type SealedPlace } from './sealed-places.ts'

const TYPES = { uuid, text, integer: int4 }
/** Values before every key. */
const FIRST = { uuid: '00000000-0000-0000-0000-000000000000', text: '', integer: -1 }

/** Statements that read and write the rows of a column with secrets, ordered by key. */
function resealing({ table, key, column, json: isJson, required }: SealedPlace) {
  const names = Object.keys(key)
  const columns = names.join(', ')
  const keyed = <T>(partOf: (type: keyof typeof TYPES) => T) =>
    Object.fromEntries(Object.entries(key).map(([name, type]) => [name, partOf(type)]))
  return {
    first: Object.values(key).map((type): unknown => FIRST[type]),
    /** Locks the next rows after a key. */
    lock: statement({
      name: `database.reseal.lock-${table}-${column}`,
      parameters: { ...keyed((type) => TYPES[type]), limit: int8 },
      row: { key: json<unknown[]>(), value: required ? text : nullable(text) },
      sql: `SELECT json_build_array(${columns}) AS key, ${column}::text AS value FROM ${table}
         WHERE (${columns}) > (${names.map((name) => `:${name}`).join(', ')})
         ORDER BY ${columns} LIMIT :limit FOR NO KEY UPDATE`,
    }),
    write: statement({
      name: `database.reseal.write-${table}-${column}`,
      parameters: { ...keyed((type) => array<unknown>(TYPES[type])), values: array(text) },
      sql: `UPDATE ${table} t SET ${column} = n.value${isJson ? '::jsonb' : ''}
          FROM unnest(${Object.entries(key)
            .map(([name, type]) => `:${name}::${type}[]`)
            .join(', ')}, :values::text[])
               AS n (${columns}, value)
         WHERE ${names.map((name) => `t.${name} = n.${name}`).join(' AND ')}`,
    }),
  }
}

const RESEALING = SEALED_PLACES.map((place) => ({ place, ...resealing(place) }))

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
