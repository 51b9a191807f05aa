import { ApiError, type Input, type SlipwayClient, toApiError, ValidationError } from '@slipway/client'

type CheckedChange = Input<'checkCatalog'>['body']['changes'][number]

/** A change to check, and what to do with the answer. */
export interface CheckItem {
  change: CheckedChange
  report(refusal: ApiError | null, warnings: readonly string[]): void
}

const UNAVAILABLE = 503
/** What one call checks: fewer changes than the server takes, so that it answers within seconds. */
const PIECE = { changes: 100, bytes: 2 * 1024 * 1024 }
const SMALLEST = 10

/**
 * Asks the server what it would refuse, and reports each answer. Nothing is changed. With `assumePermissions`, an account that may only
 * read asks as if it might write. Returns whether it did so.
 */
export async function checkChanges(
  client: SlipwayClient,
  items: readonly CheckItem[],
  options: { assumePermissions: boolean },
  size = PIECE,
): Promise<boolean> {
  try {
    let isAssumed = false
    for (const piece of splitItems(items, size)) {
      const body = { changes: piece.map(({ change }) => change), assume_permissions: options.assumePermissions }
      isAssumed = (await checkPiece(client, piece, body)) || isAssumed
    }
    return isAssumed
  } catch (error) {
    const isTooMuch = error instanceof ApiError && error.status === UNAVAILABLE && size.changes > SMALLEST
    if (!isTooMuch) throw error
    // A busy server has no time for as many. What is reported again is the same.
    return await checkChanges(client, items, options, { changes: size.changes / 4, bytes: size.bytes / 4 })
  }
}

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
    if (!(error instanceof ValidationError)) throw error
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
 * come last, with all changes of records: these may free a record.
 */
export function splitItems(
  items: readonly CheckItem[],
  { changes, bytes }: { changes: number; bytes: number },
): CheckItem[][] {
  const texts = new Map(items.map((item) => [item, JSON.stringify(item.change)]))
  const sizeOf = (item: CheckItem) => texts.get(item)?.length ?? 0
  if (items.length <= changes && items.reduce((sum, item) => sum + sizeOf(item), 0) <= bytes) return [[...items]]
  const makers = new Map<string, CheckItem[]>()
  for (const item of items) {
    const { what, id } = item.change
    if (what !== 'change' && what !== 'delete') makers.set(id, [...(makers.get(id) ?? []), item])
  }
  const reported = new Set<CheckItem>()
  const toPiece = (members: ReadonlySet<CheckItem>) =>
    items
      .filter((item) => members.has(item))
      .map((item) => {
        if (reported.has(item)) return { ...item, report() {} }
        reported.add(item)
        return item
      })
  const pieces: CheckItem[][] = []
  let members = new Set<CheckItem>()
  let size = 0
  const add = (item: CheckItem) => {
    if (members.has(item)) return
    members.add(item)
    size += sizeOf(item)
    for (const [, id = ''] of (texts.get(item) ?? '').matchAll(ID)) for (const maker of makers.get(id) ?? []) add(maker)
  }
  for (const item of items) {
    if (item.change.what === 'delete') continue
    add(item)
    if (members.size < changes && size < bytes) continue
    pieces.push(toPiece(members))
    members = new Set()
    size = 0
  }
  if (members.size > 0) pieces.push(toPiece(members))
  members = new Set()
  for (const item of items) if (item.change.what === 'delete') members.add(item)
  if (members.size === 0) return pieces
  for (const item of items) if (item.change.what === 'change') add(item)
  return [...pieces, toPiece(members)]
}
