import { decodeSqid, type SqidKind } from '@slipway/domain'

/** Ids of a request, sorted by form: one statement looks up both forms. */
export interface References {
  uuids: string[]
  numbers: number[]
}

const MAX_NUMBER = 2_147_483_647
const UUID_LENGTH = 36

/**
 * Sorts ids by form. The gateway has checked the form: a SqId is always shorter than a UUID. Text of neither form names no
 * record.
 */
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
