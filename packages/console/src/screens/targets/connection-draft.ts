import type { Schema } from '@slipway/client'
import type { ProblemAt } from '../../components/field-problem.ts'

export type ConnectionType = Schema<'ConnectionInput'>['type']

/** A connection as its form holds it: every field is text, and an empty field is absent. */
export interface ConnectionDraft {
  type: ConnectionType
  host: string
  port: string
  username: string
  host_key: string
  private_key: string
  password: string
  duration_ms: string
  exit_code: string
  failure_rate: string
  output_lines: string
  drop_rate: string
}

export interface ConnectionFieldsProps {
  draft: ConnectionDraft
  onChange: (draft: ConnectionDraft) => void
  problemAt: ProblemAt
  /** Whether the connection exists: empty secrets then keep their stored values. */
  isStored?: boolean
}

const EMPTY: ConnectionDraft = {
  type: 'ssh',
  host: '',
  port: '',
  username: '',
  host_key: '',
  private_key: '',
  password: '',
  duration_ms: '',
  exit_code: '',
  failure_rate: '',
  output_lines: '',
  drop_rate: '',
}

/** Where the API has the values that have a field of their own. */
const POINTERS = Object.keys(EMPTY)
  .filter((name) => name !== 'type')
  .map((name) => `/connection/${name}`)

/** What the server says is wrong with the connection as a whole. */
export const connectionProblem = (problemAt: ProblemAt) => problemAt('/connection', POINTERS)

/** The form of a stored connection. The API never returns its secrets, so these fields are empty. */
export function draftOf(connection?: Schema<'Connection'>): ConnectionDraft {
  const texts = Object.entries(connection ?? {}).map(([name, value]) => [name, String(value)])
  return { ...EMPTY, ...Object.fromEntries(texts), ...(connection ? { type: connection.type } : {}) }
}

const textOf = (text: string) => text || undefined
const numberOf = (text: string) => (text === '' ? undefined : Number(text))

/** Leaves out undefined fields: the API's types do not allow them. */
const omitUndefined = <T extends object>(fields: { [K in keyof T]: T[K] | undefined }): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T

export function connectionOf(draft: ConnectionDraft): Schema<'ConnectionInput'> {
  switch (draft.type) {
    case 'ssh':
      return omitUndefined<Schema<'SshConnectionInput'>>({
        type: 'ssh',
        host: draft.host,
        port: numberOf(draft.port),
        username: draft.username,
        host_key: textOf(draft.host_key),
        private_key: textOf(draft.private_key),
        password: textOf(draft.password),
      })
    case 'simulated':
      return omitUndefined<Schema<'SimulatedConnection'>>({
        type: 'simulated',
        duration_ms: numberOf(draft.duration_ms),
        exit_code: numberOf(draft.exit_code),
        failure_rate: numberOf(draft.failure_rate),
        output_lines: numberOf(draft.output_lines),
        drop_rate: numberOf(draft.drop_rate),
      })
    default:
      return { type: draft.type }
  }
}
