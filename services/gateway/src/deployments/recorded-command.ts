import type { CommandBody, CommandReply, CommandType } from '@slipway/contracts'
import { bool, type Queryable, statement, uuid } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'
import type { Subject } from '../audit-trail.ts'
import type { CallingUser } from '../callers/calling-user.ts'
import type { Dependencies } from '../dependencies.ts'
import type { Call } from '../handler.ts'
import { sendCommand, withinAnswerTime } from './command.ts'

/** Whether the audit log has a record of this command. */
const isRecorded = statement({
  name: 'gateway.deployments.is-command-recorded',
  parameters: { command_id: uuid },
  row: { recorded: bool },
  sql: 'SELECT EXISTS (SELECT FROM audit_records WHERE id = :command_id) AS recorded',
})

/**
 * Sends a command. The receiver writes an audit record with the id of the command, so the record proves the effect. `done` is the
 * result in that case.
 * @throws Problem as sendCommand() and withinAnswerTime() do
 */
export async function sendRecordedCommand<T extends CommandType>(
  { database, broker }: Pick<Dependencies, 'database' | 'broker'>,
  { caller, requestId, bounds, audit }: Pick<Call, 'requestId' | 'bounds' | 'audit'> & { caller: CallingUser },
  subject: Subject,
  { type, body, done }: { type: T; body: CommandBody<T>; done: CommandReply<T> },
): Promise<void> {
  audit.about(subject)
  const commandId = uuidv7()
  audit.leaveToCommand(commandId)
  const lookUp = async () => ((await tookEffect(database, commandId)) ? done : null)
  const effect = { lookUp, forbid: audit.forbid }
  await withinAnswerTime(
    bounds,
    sendCommand(broker, type, body, { requestId, apiKey: caller.api_key, bounds, commandId, effect }),
  )
}

/** Whether this command took effect, not a similar one of another call. */
const tookEffect = async (db: Queryable, command_id: string): Promise<boolean> =>
  (await isRecorded.one(db, { command_id })).recorded
