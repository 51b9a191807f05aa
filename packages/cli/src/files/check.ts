import { ApiError, type Input, type SlipwayClient, toApiError, ValidationError } from '@slipway/client'

type CheckedChange = Input<'checkCatalog'>['body']['changes'][number]

/** A change to check, and what to do with the answer. */
export interface CheckItem {
  change: CheckedChange
  report(refusal: ApiError | null, warnings: readonly string[]): void
}

const PAYLOAD_TOO_LARGE = 413
const UNAVAILABLE = 503
/** What one call checks: fewer changes than the server takes, so that it answers within seconds. */
const PIECE = { changes: 100, bytes: 2 * 1024 * 1024 }
const SMALLEST = 10
type Size = typeof PIECE

/** What a call never exceeds, together with what its changes refer to. For PIECE, this is what the server takes. */
const limitOf = ({ changes, bytes }: Size): Size => ({ changes: 10 * changes, bytes: 4 * bytes - ENVELOPE })
/** The bytes of a body beside its changes. */
const ENVELOPE = 1_024

interface Answer {
  /** Whether the account may only read, and the server checked as if it might write. */
  isAssumed: boolean
  /** What does not fit into a call together with all that it depends on. */
  unchecked: CheckItem[]
}

/**
 * Asks the server what it would refuse, and reports each answer. Nothing is changed. With `assumePermissions`, an account that may only
 * read asks as if it might write.
 */
export async function checkChanges(
  client: SlipwayClient,
  items: readonly CheckItem[],
  options: { assumePermissions: boolean },
  size = PIECE,
): Promise<Answer> {
  try {
    let isAssumed = false
    const { pieces, unchecked } = splitItems(items, size)
    for (const piece of pieces) {
      const body = { changes: piece.map(({ change }) => change), assume_permissions: options.assumePermissions }
      isAssumed = (await checkPiece(client, piece, body)) || isAssumed
    }
    return { isAssumed, unchecked }
  } catch (error) {
    if (!isTooMuch(error) || size.changes <= SMALLEST) throw error
    // What is reported again is the same.
    const smaller = { changes: Math.floor(size.changes / 4), bytes: Math.floor(size.bytes / 4) }
    return await checkChanges(client, items, options, smaller)
  }
}

/** Whether fewer changes may pass: a busy server has no time for as many, and a proxy or an older server may take less. */
const isTooMuch = (error: unknown) =>
  error instanceof ApiError &&
  ([PAYLOAD_TOO_LARGE, UNAVAILABLE].includes(error.status) || error.code === 'INVALID_BODY')

async function checkPiece(
  client: SlipwayClient,
  piece: readonly CheckItem[],
  body: Input<'checkCatalog'>['body'],
): Promise<boolean> {
  try {
    const { results, assumed_permissions } = await client.call('checkCatalog', { body })
    for (const [n, { error, warnings }] of results.entries()) piece[n]?.report(error && toApiError(error), warnings)
    return assumed_permissions
  } catch (error) {
    if (!(error instanceof ValidationError) || error.problems.length === 0) throw error
    // Some rules of bodies are those of the whole request, such as the digits of numbers.
    const { status, code, message } = error
    for (const problem of error.problems) {
      const [, n, path = ''] = /^\/changes\/(\d+)\/body(.*)$/s.exec(problem.path) ?? []
      const item = piece[Number(n)]
      if (item === undefined) throw error
      item.report(toApiError({ status, code, message, details: { errors: [{ ...problem, path }] } }), [])
    }
    return false
  }
}

/** Ids of records and of content, as JSON has them. */
const ID = /"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64})"/g

/**
 * Splits changes into pieces. Each piece also has the changes that its own ones refer to, if an earlier piece has them. Deletions
 * come last, with all changes of records: these may free a record. Each deletion may need those before it.
 */
export function splitItems(items: readonly CheckItem[], size: Size): { pieces: CheckItem[][]; unchecked: CheckItem[] } {
  const texts = new Map(items.map((item) => [item, JSON.stringify(item.change)]))
  const bytesOf = (some: Iterable<CheckItem>) =>
    [...some].reduce((sum, item) => sum + Buffer.byteLength(texts.get(item) ?? '') + ','.length, 0)
  if (items.length > 0 && items.length <= size.changes && bytesOf(items) <= size.bytes)
    return { pieces: [[...items]], unchecked: [] }
  const limit = limitOf(size)
  const makers = new Map<string, CheckItem[]>()
  for (const item of items) {
    const { what, id } = item.change
    if (what !== 'change' && what !== 'delete') makers.set(id, [...(makers.get(id) ?? []), item])
  }
  const pieces: CheckItem[][] = []
  const unchecked: CheckItem[] = []
  const reported = new Set<CheckItem>()
  let members = new Set<CheckItem>()
  let bytes = 0
  const addTo = (all: Set<CheckItem>, item: CheckItem) => {
    if (members.has(item) || all.has(item)) return all
    all.add(item)
    for (const [, id = ''] of (texts.get(item) ?? '').matchAll(ID))
      for (const maker of makers.get(id) ?? []) addTo(all, maker)
    return all
  }
  /** Adds a change, and what it refers to, to the piece. Returns whether they fit. */
  const take = (item: CheckItem): boolean => {
    const more = addTo(new Set(), item)
    const moreBytes = bytesOf(more)
    if (members.size + more.size > limit.changes || bytes + moreBytes > limit.bytes) return false
    for (const one of more) members.add(one)
    bytes += moreBytes
    return true
  }
  const endPiece = () => {
    const piece = items.filter((item) => members.has(item))
    if (piece.length > 0) pieces.push(piece.map((item) => (reported.has(item) ? { ...item, report() {} } : item)))
    for (const item of piece) reported.add(item)
    members = new Set()
    bytes = 0
  }
  for (const item of items) {
    if (item.change.what === 'delete') continue
    if (!take(item)) {
      endPiece()
      if (!take(item)) unchecked.push(item)
    }
    if (members.size >= size.changes || bytes >= size.bytes) endPiece()
  }
  endPiece()
  const deletions = items.filter(({ change }) => change.what === 'delete')
  let isFull = deletions.length === 0 || !items.filter(({ change }) => change.what === 'change').every(take)
  for (const item of deletions) {
    isFull ||= !take(item)
    if (isFull) unchecked.push(item)
  }
  // Changes alone were in a piece before.
  if (deletions.some((item) => members.has(item))) endPiece()
  return { pieces, unchecked }
}
