import { decodeSqid, type SqidKind } from '@slipway/domain'

/** What a list of ids names, sorted by form: records are looked up by both in one statement. */
export interface References {
  uuids: string[]
  numbers: number[]
}

const MAX_NUMBER = 2_147_483_647
const UUID_LENGTH = 36

/** Sorts ids by their form, which was checked when they came: a SqId is never as long as a UUID. One of neither form names nothing. */
export function references(kind: SqidKind, ids: readonly string[]): References {
  const result: References = { uuids: [], numbers: [] }
  for (const id of ids) {
    if (id.length === UUID_LENGTH) result.uuids.push(id.toLowerCase())
    else {
      const number = decodeSqid(kind, id)
      if (number !== null && number <= MAX_NUMBER) result.numbers.push(number)
    }
  }
  return result
}
