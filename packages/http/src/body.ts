import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { compile, type Static, type TSchema } from '@slipway/contracts'
import { Problem, validationProblem } from '@slipway/domain'
import { extendArrivalTime } from './arrival.ts'
import { findExcess } from './excess.ts'

export interface BodyBounds {
  /** The most bytes, after decompression. */
  bytes: number
  /** The most fields and items of all objects and lists; by default any number. */
  values?: number
  /** The deepest nesting; by default any. */
  nesting?: number
}

export interface JsonBody {
  value: unknown
  text: string
}

interface BodyForms {
  /** An empty body counts as `{}`. */
  optional?: boolean
  /** The body may be form-encoded. Then all its fields are texts. */
  form?: boolean
}

/**
 * Reads a JSON body. The size is checked before the media type.
 * @throws Problem PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_BODY
 */
export async function readJson(
  request: IncomingMessage,
  bounds: BodyBounds,
  { optional = false, form = false }: BodyForms = {},
): Promise<JsonBody> {
  const bytes = await readBytes(request, bounds.bytes)
  if (bytes.length === 0 && optional) return { value: {}, text: '{}' }
  const type = request.headers['content-type']
  if (form && mediaTypeOf(type).essence === FORM_TYPE) return parseForm(decode(bytes))
  if (bytes.length > 0 || type !== undefined) requireJson(type)
  if (bytes.length === 0) throw invalid('The body is empty: send a JSON object')
  const text = decode(bytes)
  const excess = findExcess(text, bounds)
  if (excess !== null) throw invalid(`The body ${excess}`)
  return { value: parse(text), text }
}

/** Returns a function that reads bodies of a schema. See `checker`. */
export function jsonReader<T extends TSchema>(
  schema: T,
  bounds: BodyBounds,
): (request: IncomingMessage) => Promise<Static<T>> {
  const check = checker(schema)
  return async (request) => check((await readJson(request, bounds)).value)
}

/**
 * Returns a function that validates bodies from programs of Slipway. It throws a Problem with the first error only: otherwise the
 * answer to a wrong body could be as large as the body.
 */
export function checker<T extends TSchema>(schema: T): (value: unknown) => Static<T> {
  const problemsOf = compile(schema)
  return (value) => {
    const [problem] = problemsOf(value)
    if (problem) throw validationProblem([problem])
    return value as Static<T>
  }
}

/**
 * The bytes of a body as they arrive. A larger Content-Length or an encoding is refused before any byte is read.
 * @throws Problem PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE; while reading also INVALID_BODY
 */
export function bytesOf(request: IncomingMessage, limit: number): AsyncIterable<Buffer> {
  const refuse = () =>
    new Problem('PAYLOAD_TOO_LARGE', `The body is larger than ${limit} bytes: split it into several files`, {
      limit_bytes: limit,
    })
  if (announcedLength(request) > limit) throw refuse()
  if (encodingOf(request) !== 'identity') {
    throw new Problem('UNSUPPORTED_MEDIA_TYPE', 'Content encodings are not supported: send the body as it is')
  }
  return arriving(request, piecesOf(request, limit, refuse))
}

async function* arriving(request: IncomingMessage, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    extendArrivalTime(request)
    yield piece
  }
}

/** Whether a JSON value is an object, not an array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>
const DECODERS = new Map<string, Decoder>([
  ['gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
])

async function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  const refuse = () => new Problem('PAYLOAD_TOO_LARGE', `The body is larger than ${limit} bytes`)
  const encoding = encodingOf(request)
  const decoder = DECODERS.get(encoding)
  if (decoder === undefined && encoding !== 'identity') {
    throw new Problem('UNSUPPORTED_MEDIA_TYPE', 'This content encoding is not supported: send the body as it is')
  }
  if (announcedLength(request) > limit) throw refuse()
  const pieces: Buffer[] = []
  for await (const piece of piecesOf(request, limit, refuse)) pieces.push(piece)
  const bytes = Buffer.concat(pieces)
  if (decoder === undefined || bytes.length === 0) return bytes
  return decoder(bytes, { maxOutputLength: limit }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ERR_BUFFER_TOO_LARGE' ? refuse() : invalid('The body cannot be read')
  })
}

const encodingOf = ({ headers }: IncomingMessage) => (headers['content-encoding'] ?? 'identity').toLowerCase()

const announcedLength = ({ headers }: IncomingMessage) => Number(headers['content-length'] ?? 0)

async function* piecesOf(request: IncomingMessage, limit: number, refuse: () => Problem): AsyncGenerator<Buffer> {
  let size = 0
  // The request is not destroyed when reading ends early: the client must be able to read the refusal.
  const pieces = request.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value } = await pieces.next().catch(() => {
        throw invalid('The body ended before it was complete')
      })
      if (done) return
      size += value.length
      if (size > limit) throw refuse()
      yield value
    }
  } finally {
    await pieces.return?.()
    // Read and drop the rest: closing a connection with unread bytes may lose the refusal.
    request.resume()
  }
}

function requireJson(type: string | undefined): void {
  const { essence, charset } = mediaTypeOf(type)
  const isUtf8 = charset === undefined || /^"?utf-?8"?$/.test(charset)
  if (essence === 'application/json' && isUtf8) return
  throw new Problem('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json in UTF-8')
}

function mediaTypeOf(type = ''): { essence: string; charset: string | undefined } {
  const [essence = '', ...parameters] = type.split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length)
  return { essence, charset }
}

const FORM_TYPE = 'application/x-www-form-urlencoded'

/** @throws Problem INVALID_BODY for a field that is given twice: two readers could choose different ones */
function parseForm(text: string): JsonBody {
  const fields = [...new URLSearchParams(text)]
  const value = Object.fromEntries(fields)
  if (Object.keys(value).length < fields.length) throw invalid('The body has a field twice: send each once')
  return { value, text: JSON.stringify(value) }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw invalid('The body is not valid UTF-8')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalid(`The body is not valid JSON: ${(error as Error).message}`)
  }
}

const invalid = (message: string) => new Problem('INVALID_BODY', message)
