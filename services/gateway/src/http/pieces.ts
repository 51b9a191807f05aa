import type { Answer } from './handler.ts'

/** Of JSON text, some of it perhaps as bytes. */
export type Piece = string | Uint8Array

type Pieces = AsyncIterable<Piece> | Iterable<Piece>

/** So much is gathered before the answer begins: whatever goes wrong until then is told by a status. */
const WHOLE_BYTES = 192 * 1024

/** Answers with JSON text that comes in pieces; small ones whole. */
export async function answerPieces(
  status: number,
  pieces: Pieces,
  around?: { before: string; after: string },
): Promise<Answer> {
  const { before = '', after = '' } = around ?? {}
  const iterator = asynchronous(pieces)
  const first = [bytesOf(before)]
  let size = 0
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    const bytes = bytesOf(next.value)
    first.push(bytes)
    size += bytes.length
    if (size > WHOLE_BYTES) return { status, chunks: rejoin(Buffer.concat(first), iterator, after) }
  }
  return { status, json: Buffer.concat(first).toString() + after }
}

const bytesOf = (piece: Piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)

async function* asynchronous(pieces: Pieces): AsyncGenerator<Piece> {
  yield* pieces
}

async function* rejoin(first: Piece, rest: AsyncGenerator<Piece>, after: string): AsyncGenerator<Piece> {
  yield first
  yield* rest
  yield after
}
