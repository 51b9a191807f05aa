const UUID_OID = 2950
const UUID_BYTES = 16

const int32 = (value: number) => value.toString(16).padStart(8, '0')

/**
 * UUIDs as a `uuid[]` in Postgres' own form: thousands as text take it longer to read than the rows to find that they
 * name. One dimension, no nulls, what is in it, how many, the index of the first; then each with its length before it.
 */
export function uuidArray(uuids: readonly string[]): Buffer {
  const head = [1, 0, UUID_OID, uuids.length, 1].map(int32).join('')
  const elements = uuids.map((uuid) => int32(UUID_BYTES) + uuid).join('')
  const array = Buffer.from((head + elements).replaceAll('-', ''), 'hex')
  if (array.length !== 20 + uuids.length * (4 + UUID_BYTES)) throw new TypeError('not all of these are UUIDs')
  return array
}
