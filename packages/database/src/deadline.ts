import type { CallingKey, MessageHeaders } from '@slipway/contracts'
import { type Queryable, statement } from './sql/statement.ts'
import { bool, timestamptz } from './sql/types.ts'

const hasPassed = statement({
  name: 'database.deadline.has-passed',
  parameters: { deadline: timestamptz },
  row: { passed: bool },
  sql: 'SELECT clock_timestamp() > :deadline AS passed',
})

/** Whether the deadline of a command message is over, by the database's clock. Always false without a deadline. */
export async function isPast(tx: Queryable, deadline: string | undefined): Promise<boolean> {
  if (deadline === undefined) return false
  return (await hasPassed.one(tx, { deadline: new Date(deadline) })).passed
}

/** The properties of a command message beside its body. */
export interface ReceivedCommand {
  /** Equal in all copies of the command message. */
  command_id: string
  /** After this time the command has no effect. */
  deadline?: string | undefined
  request_id: string | null
  /** The API key of the call, if any. */
  api_key?: CallingKey | undefined
}

/** The id of a command is the id of its message. */
export const receivedCommand = ({ message_id, deadline, request_id, api_key }: MessageHeaders): ReceivedCommand => ({
  command_id: message_id,
  deadline,
  request_id,
  api_key,
})
