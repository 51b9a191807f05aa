import { statement } from '../sql/statement.ts'
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

export const RESEALING = SEALED_PLACES.map((place) => ({ place, ...resealing(place) }))
