import type { MessageHeaders } from '@slipway/contracts'
import { hasPassed } from './deadline.sql.ts'
import type { Queryable } from './queryable.ts'

/** Whether a command's deadline is over, by the database's clock. A command without one never is. */
export async function isPast(tx: Queryable, deadline: string | undefined): Promise<boolean> {
  if (deadline === undefined) return false
  return (await hasPassed.one(tx, { deadline: new Date(deadline) })).passed
}

/** What a command carries beside its body. */
export interface ReceivedCommand {
  /** The same in every copy of the command. */
  command_id: string
  /** Past it the command has no effect. */
  deadline?: string | undefined
  request_id: string | null
}

/** The command that a message carries: the id of the message is that of the command. */
export const receivedCommand = ({ message_id, deadline, request_id }: MessageHeaders): ReceivedCommand => ({
  command_id: message_id,
  deadline,
  request_id,
})
