import { ERROR_CODES, type ErrorCode } from '@slipway/domain'
import type { Operation } from '../operations/operation.ts'

/** The refusals of authentication. */
const OF_BEARERS: readonly ErrorCode[] = [
  'MISSING_AUTH_HEADER',
  'UNAUTHORIZED',
  'INVALID_AUTH_HEADER',
  'INVALID_TOKEN',
  'TOKEN_EXPIRED',
  'INVALID_CREDENTIALS',
  'TWO_FACTOR_REQUIRED',
  'FORBIDDEN',
]
/** Answered by the log-stream service, which reports no other errors of the database. */
const OF_STREAMS: readonly ErrorCode[] = [
  'UNAUTHORIZED',
  'INVALID_TOKEN',
  'INSUFFICIENT_PERMISSIONS',
  'DATABASE_CONNECTION_ERROR',
  'SERVICE_UNAVAILABLE',
]
const OF_BODIES: readonly ErrorCode[] = ['INVALID_BODY', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']
/** For operations that use the database. */
const OF_RECORDS: readonly ErrorCode[] = ['DATABASE_ERROR', 'DATABASE_CONNECTION_ERROR', 'SERVICE_UNAVAILABLE']

/** Answered without the database. */
const isAboutService = ({ tag, access }: Operation) => tag === 'service' && access === 'public'

/** The general limit does not apply to probes. */
export const isProbe = (operation: Operation) => operation.path.startsWith('/health')

/** All codes with which the gateway can refuse a call of the operation. */
export function errorCodesOf(operation: Operation): ErrorCode[] {
  const { access, body, path, method, audit, tag, takesBytes } = operation
  const codes = new Set<ErrorCode>(['VALIDATION_ERROR', 'INTERNAL_ERROR', ...(operation.refusals ?? [])])
  const add = (more: readonly ErrorCode[]) => {
    for (const code of more) codes.add(code)
  }
  if (access === 'sse') add(OF_STREAMS)
  else if (access !== 'public') add(OF_BEARERS)
  if (access.includes(':')) add(['INSUFFICIENT_PERMISSIONS'])
  if (body !== undefined || takesBytes) add(OF_BODIES)
  if ((body?.['required'] as unknown[] | undefined)?.length) add(['MISSING_FIELD'])
  if (path.includes('{') || namesRecords(body)) add(['NOT_FOUND'])
  // A concurrent change may have taken the name, or used or deleted the record.
  if (method !== 'GET' && audit !== undefined && tag !== 'authentication') add(['CONFLICT'])
  if (operation.limit !== undefined) add(['AUTH_RATE_LIMIT_EXCEEDED'])
  if (!isAboutService(operation) && access !== 'sse') add(OF_RECORDS)
  return [...codes].sort((a, b) => ERROR_CODES[a] - ERROR_CODES[b] || a.localeCompare(b))
}

/** Whether a value of the schema can contain ids of records. */
function namesRecords(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  const { format } = schema as { format?: unknown }
  if (typeof format === 'string' && format.startsWith('id-')) return true
  return Object.values(schema).some(namesRecords)
}
