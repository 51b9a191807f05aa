import { type FieldError, findChangedNumbers, Problem } from '@slipway/domain'
import express, { type Request, type RequestHandler, type Response } from 'express'
import { findExcess } from './body-bounds.ts'

/** UTF-8 has neither NUL in a JSON text nor half a surrogate pair, so only an escape brings them. */
const UNSTORABLE_ESCAPE = /\\u(?:0000|d[89a-f])/i
const MAX_NUMBER_PROBLEMS = 100

export interface ParsedBody {
  value: unknown
  /** The numbers that JSON.parse changed. Validation reports them, after the permissions are checked. */
  changedNumbers: FieldError[]
  /** Whether the text has an escape of what Postgres cannot store. The search for its place reads the whole value. */
  mayHaveUnstorableText: boolean
}

/** A body that is not JSON, or none. */
export const parsedBody = (value: unknown): ParsedBody => ({ value, changedNumbers: [], mayHaveUnstorableText: false })

const reader = (limit: number): RequestHandler => express.raw({ type: () => true, limit })

/** Read a body of any media type: size is checked before the type. Callers without an account get little work done. */
const readPublic = reader(16 * 1024)
const readAuthenticated = reader(1024 * 1024)

/**
 * Reads the bytes of a JSON body into `request.body`.
 * @throws the error of Express's reader, with the `limit` if the body is too large
 */
export function readBody(request: Request, response: Response, { isPublic }: { isPublic: boolean }): Promise<void> {
  const read = isPublic ? readPublic : readAuthenticated
  return new Promise((resolve, reject) => {
    read(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)))
  })
}

/**
 * Parses the JSON body of a request. An optional body that is empty counts as `{}`.
 * @throws Problem UNSUPPORTED_MEDIA_TYPE, INVALID_BODY
 */
export function parseBody(request: Request, { optional }: { optional: boolean }): ParsedBody {
  const bytes: Buffer = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  if (bytes.length === 0 && optional) return parsedBody({})
  const type = request.headers['content-type']
  if (bytes.length > 0 || type !== undefined) requireJson(type)
  if (bytes.length === 0) throw invalid('The body is empty: send a JSON object')
  const text = decode(bytes)
  const excess = findExcess(text)
  if (excess !== null) throw invalid(`The body ${excess}`)
  const value = parse(text)
  return {
    value,
    mayHaveUnstorableText: UNSTORABLE_ESCAPE.test(text),
    changedNumbers: findChangedNumbers(text, MAX_NUMBER_PROBLEMS),
  }
}

function requireJson(type: string | undefined): void {
  const [essence = '', ...parameters] = (type ?? '').split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length)
  const isUtf8 = charset === undefined || /^"?utf-?8"?$/.test(charset)
  if (essence === 'application/json' && isUtf8) return
  throw new Problem('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json in UTF-8')
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
