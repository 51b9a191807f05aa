import type { Answer } from './answer.ts'
import { isObject } from './body.ts'

/** A list that is too large for memory. The answer is sent batch by batch (goal: large plans previewed and created). */
export class Batches<T> {
  readonly source: AsyncIterable<readonly T[]> | Iterable<readonly T[]>

  constructor(source: Batches<T>['source']) {
    this.source = source
  }
}

/** Characters that are made before anything is sent. An error up to here can still change the status. */
const MAX_WHOLE_LENGTH = 192 * 1024

/** Answers with a body that may hold Batches: a small body whole, a large one while its batches are read. */
export async function answerStream(status: number, body: object): Promise<Answer> {
  const pieces = jsonPieces(body)
  let text = ''
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
    text += next.value
    if (text.length > MAX_WHOLE_LENGTH) return { status, chunks: withFirst(text, pieces) }
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
    yield before + batch.map((item) => JSON.stringify(item)).join(',')
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}

function holdsBatches(value: unknown): boolean {
  return value instanceof Batches || (isObject(value) && Object.values(value).some(holdsBatches))
}
