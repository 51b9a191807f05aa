import type { Answer } from './handler.ts'
import { isObject } from './json.ts'

/** A list of an answer that comes in batches, because all of it is too large to hold in memory. */
export class Batches<T> {
  readonly source: AsyncIterable<readonly T[]> | Iterable<readonly T[]>

  constructor(source: Batches<T>['source']) {
    this.source = source
  }
}

/** Until so much text is there, whatever goes wrong is told by a status. */
const WHOLE_LENGTH = 192 * 1024

/** Answers with a body that may hold Batches. A small one is sent whole, a large one while the batches come. */
export async function answerStream(status: number, body: object): Promise<Answer> {
  const pieces = jsonPieces(body)
  let text = ''
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
    text += next.value
    if (text.length > WHOLE_LENGTH) return { status, chunks: withFirst(text, pieces) }
  }
  return { status, json: text }
}

async function* withFirst(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first
  yield* rest
}

async function* jsonPieces(value: unknown): AsyncGenerator<string> {
  if (value instanceof Batches) {
    yield* listPieces(value)
  } else if (isObject(value) && holdsBatches(value)) {
    let before = '{'
    for (const [name, field] of Object.entries(value)) {
      if (field === undefined) continue
      yield `${before}${JSON.stringify(name)}:`
      yield* jsonPieces(field)
      before = ','
    }
    yield '}'
  } else {
    yield JSON.stringify(value)
  }
}

async function* listPieces({ source }: Batches<unknown>): AsyncGenerator<string> {
  let before = '['
  for await (const batch of source) {
    if (batch.length === 0) continue
    // One call for a batch, without its brackets: a call for each item takes half as long again (goals 6 and 7).
    yield before + JSON.stringify(batch).slice(1, -1)
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}

function holdsBatches(value: unknown): boolean {
  return value instanceof Batches || (isObject(value) && Object.values(value).some(holdsBatches))
}
