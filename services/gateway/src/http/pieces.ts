import type { Answer } from './handler.ts'

/** So much is gathered before the answer begins: whatever goes wrong until then is told by a status. */
const WHOLE_CHARACTERS = 1_000_000

/** Answers with JSON text that comes in pieces; small ones whole. */
export async function answerPieces(
  status: number,
  pieces: AsyncIterable<string> | Iterable<string>,
  around?: { before: string; after: string },
): Promise<Answer> {
  const { before = '', after = '' } = around ?? {}
  const iterator = asynchronous(pieces)[Symbol.asyncIterator]()
  const first = [before]
  let size = 0
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    first.push(next.value)
    size += next.value.length
    if (size > WHOLE_CHARACTERS) return { status, chunks: rejoin(first.join(''), iterator, after) }
  }
  return { status, json: first.join('') + after }
}

async function* asynchronous(pieces: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
  yield* pieces
}

async function* rejoin(first: string, rest: AsyncIterator<string>, after: string): AsyncGenerator<string> {
  try {
    yield first
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
    yield after
  } finally {
    // Whoever stops reading in the middle stops the reading of rows too.
    await rest.return?.()
  }
}
