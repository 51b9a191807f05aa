import { ERROR_CODES, type ErrorCode } from '@slipway/domain'
import type { Operation } from '../operations/operation.ts'

/** What a bearer can be refused with before anything else is looked at. */
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
const OF_STREAMS: readonly ErrorCode[] = ['UNAUTHORIZED', 'INVALID_TOKEN', 'INSUFFICIENT_PERMISSIONS']
const OF_BODIES: readonly ErrorCode[] = ['INVALID_BODY', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']
/** All work with the database, which may be away or have no time. */
const OF_RECORDS: readonly ErrorCode[] = ['DATABASE_ERROR', 'DATABASE_CONNECTION_ERROR', 'SERVICE_UNAVAILABLE']

/** Asked for by probes, and answered from what the process knows. */
const isAboutService = ({ tag, access }: Operation) => tag === 'service' && access === 'public'

/** Probes are not counted against the general limit. */
export const isProbe = (operation: Operation) => operation.path.startsWith('/health')

/** Every code that a call of the operation can be refused with, as the checks before its handler and itself go. */
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
  // A change can meet one that was made meanwhile: a name that is taken, a record that is in use or gone.
  if (method !== 'GET' && audit !== undefined && tag !== 'authentication') add(['CONFLICT'])
  if (operation.limit === 'login') add(['AUTH_RATE_LIMIT_EXCEEDED'])
  if (!isAboutService(operation)) add(OF_RECORDS)
  return [...codes].sort((a, b) => ERROR_CODES[a] - ERROR_CODES[b] || a.localeCompare(b))
}

/** Whether a value of the schema can hold ids of records, which may turn out not to exist. */
function namesRecords(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  const { format } = schema as { format?: unknown }
  if (typeof format === 'string' && format.startsWith('id-')) return true
  return Object.values(schema).some(namesRecords)
}
