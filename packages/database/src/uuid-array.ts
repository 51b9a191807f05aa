const UUID_OID = 2950
const UUID_BYTES = 16
const TEXT_BYTES = 36
const HEAD_BYTES = 20

const DASH = '-'.charCodeAt(0)
/** What a digit stands for; anything else is negative. */
const DIGITS = new Int8Array(256).fill(-1)
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  DIGITS[digit.charCodeAt(0)] = value
  DIGITS[digit.toUpperCase().charCodeAt(0)] = value
}

/**
 * UUIDs as a `uuid[]` in Postgres' own form: thousands as text take it longer to read than the rows to find that they
 * name. One dimension, no nulls, what is in it, how many, the index of the first; then each with its length before it.
 */
export function uuidArray(uuids: readonly string[]): Buffer {
  const text = Buffer.from(uuids.join(''))
  const array = Buffer.alloc(HEAD_BYTES + uuids.length * (4 + UUID_BYTES))
  for (const [index, value] of [1, 0, UUID_OID, uuids.length, 1].entries()) array.writeInt32BE(value, index * 4)
  let wrong = text.length === uuids.length * TEXT_BYTES ? 0 : -1
  for (let end = HEAD_BYTES, at = 0; at < text.length; ) {
    array[end + 3] = UUID_BYTES
    end += 4
    for (let byte = 0; byte < UUID_BYTES; byte += 1) {
      if (byte === 4 || byte === 6 || byte === 8 || byte === 10) {
        wrong |= -((text[at] as number) ^ DASH)
        at += 1
      }
      const value = ((DIGITS[text[at] as number] as number) << 4) | (DIGITS[text[at + 1] as number] as number)
      wrong |= value
      array[end] = value
      at += 2
      end += 1
    }
  }
  if (wrong < 0) throw new TypeError('not all of these are UUIDs')
  return array
}
