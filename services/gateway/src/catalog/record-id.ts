import type { IdKind } from '@slipway/contracts'
import { decodeSqid, isUuid } from '@slipway/domain'

/** SqIds encode a column of this size; a larger number names nothing. */
const MAX_NUMBER = 2 ** 31 - 1

export type RecordKey = { id: string } | { number: number }

/** What an id, written as a UUID or a SqId, selects; null when it is neither and so names nothing. */
export function recordKey(kind: IdKind, text: string): RecordKey | null {
  if (isUuid(text)) return { id: text.toLowerCase() }
  const number = decodeSqid(kind, text)
  return number === null || number > MAX_NUMBER ? null : { number }
}

/** A record to filter by, null for no condition; null as a whole when the text names no record. */
export function wantedRecord(
  kind: IdKind,
  text: string | undefined,
): { id: string | null; number: number | null } | null {
  const key = text === undefined ? {} : recordKey(kind, text)
  return key && { id: null, number: null, ...key }
}
