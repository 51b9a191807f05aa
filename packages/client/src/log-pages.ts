import type { Connection } from './connection.ts'
import type { Input, Schema } from './types.ts'

type Query = NonNullable<Input<'listDeploymentLogs'>['query']>

/** Which lines: those that fit all conditions. */
export type LogFilter = Omit<Query, 'offset' | 'from' | 'before' | 'limit'>

/** A page of the log of a deployment. With a filter, it may be empty before the end of the log. */
export interface LogPage {
  entries: Schema<'LogEntry'>[]
  /** The number of the first stored line. */
  first: number
  /** How many lines the log has. */
  lines: number
  /** The number of the line with which the next page begins, `lines` at the end. With `before`, where the next page ends. */
  next: number
}

export async function readLogPage(
  connection: Connection,
  id: string,
  { signal, ...query }: Query & { signal?: AbortSignal },
): Promise<LogPage> {
  const request = { params: { id }, query, ...(signal ? { signal } : {}) }
  const { body, headers } = await connection.exchange('listDeploymentLogs', request)
  const number = (name: string) => Number(headers.get(name))
  return { entries: body, first: number('x-log-first'), lines: number('x-log-lines'), next: number('x-log-next') }
}

/** Opens the log as text. The caller reads the body of the answer. */
export async function openLogText(
  connection: Connection,
  id: string,
  { signal, ...query }: NonNullable<Input<'readDeploymentLogText'>['query']> & { signal?: AbortSignal },
): Promise<Response> {
  return await connection.open('readDeploymentLogText', { params: { id }, query, ...(signal ? { signal } : {}) })
}
