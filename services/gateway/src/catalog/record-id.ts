import type { IdKind } from '@slipway/contracts'
import { decodeSqid, isUuid } from '@slipway/domain'

/** SqIds encode an int4 column. */
const MAX_NUMBER = 2 ** 31 - 1

export type RecordKey = { id: string } | { number: number }

/** The key for a UUID or a SqId; null for other texts. */
export function recordKey(kind: IdKind, text: string): RecordKey | null {
  if (isUuid(text)) return { id: text.toLowerCase() }
  const number = decodeSqid(kind, text)
  return number === null || number > MAX_NUMBER ? null : { number }
}

/** A filter by one record. Both fields are null for no condition. The result is null if the text cannot name a record. */
export function recordFilter(
  kind: IdKind,
  text: string | undefined,
): { id: string | null; number: number | null } | null {
  const key = text === undefined ? {} : recordKey(kind, text)
  return key && { id: null, number: null, ...key }
}
