import type { CommandBody, CommandReply, CommandType } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'
import type { Subject } from '../audit-trail/trail.ts'
import type { Dependencies } from '../dependencies.ts'
import type { Call } from '../http/handler.ts'
import { command } from './command.ts'
import { isRecorded } from './recorded-command.sql.ts'

/**
 * Sends a command whose effect shows in the audit record that whoever carries it out writes under the command's id. Nothing
 * more is to be known of it than that it was done: `done` is what the answer would have said.
 * @throws Problem as command() does
 */
export async function recordedCommand<T extends CommandType>(
  { database, broker }: Pick<Dependencies, 'database' | 'broker'>,
  { requestId, audit }: Pick<Call, 'requestId' | 'audit'>,
  subject: Subject,
  { type, body, done }: { type: T; body: CommandBody<T>; done: CommandReply<T> },
): Promise<void> {
  audit.about(subject)
  const commandId = uuidv7()
  audit.leaveToCommand(commandId)
  const lookUp = async () => ((await tookEffect(database, commandId)) ? done : null)
  await command(broker, type, body, { requestId, commandId, effect: { lookUp, forbid: audit.forbid } })
}

/** Whether this very command was carried out: somebody else may have done the same at the same time. */
const tookEffect = async (db: Queryable, command_id: string): Promise<boolean> =>
  (await isRecorded.one(db, { command_id })).recorded
