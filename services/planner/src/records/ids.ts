import { decodeSqid, isUuid, type SqidKind } from '@slipway/domain'

/** What a list of ids names, sorted by form: records are looked up by both in one statement. */
export interface References {
  uuids: string[]
  numbers: number[]
}

const MAX_NUMBER = 2_147_483_647

/** Sorts ids by their form. One that is of neither form names nothing. */
export function references(kind: SqidKind, ids: readonly string[]): References {
  const result: References = { uuids: [], numbers: [] }
  for (const id of ids) {
    if (isUuid(id)) result.uuids.push(id.toLowerCase())
    else {
      const number = decodeSqid(kind, id)
      if (number !== null && number <= MAX_NUMBER) result.numbers.push(number)
    }
  }
  return result
}

/** The UUID of each given id, by the id as it was written; those of no record are absent. */
export function uuidsOf(
  kind: SqidKind,
  ids: readonly string[],
  records: readonly { id: string; number: number }[],
): Map<string, string> {
  const known = new Set(records.map(({ id }) => id))
  // Most ids are UUIDs, often all of ten thousand.
  let byNumber: Map<number, string> | undefined
  const idOf = (sqid: string) => {
    byNumber ??= new Map(records.map(({ id, number }) => [number, id]))
    return byNumber.get(decodeSqid(kind, sqid) ?? -1)
  }
  const found = new Map<string, string>()
  for (const id of ids) {
    const uuid = known.has(id) ? id : isUuid(id) ? id.toLowerCase() : idOf(id)
    if (uuid !== undefined && known.has(uuid)) found.set(id, uuid)
  }
  return found
}
