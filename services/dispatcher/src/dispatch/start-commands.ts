import type { CallingKey, CommandBody } from '@slipway/contracts'
import type { Queryable, RowOf } from '@slipway/database'
import { findStatus, lockCommandIds } from './start-commands.sql.ts'

/** A `deployment.start` command with what its message says besides the body. */
export interface StartCommand {
  command: CommandBody<'deployment.start'>
  deadline?: string | undefined
  request_id: string | null
  api_key?: CallingKey | undefined
  traceparent: string | null
}

/** Locks the commands. A second copy of a command waits here, and then finds what the first one did. */
export async function lockCommands(tx: Queryable, commands: readonly StartCommand[]): Promise<void> {
  const ids = commands.map(({ command }) => command.command_id).sort()
  await lockCommandIds.run(tx, { ids })
}

export type CommandStatus = RowOf<typeof findStatus>

export const readStatus = (tx: Queryable, commands: readonly StartCommand[]): Promise<CommandStatus[]> =>
  findStatus.all(tx, {
    ids: commands.map(({ command }) => command.command_id),
    deadlines: commands.map(({ deadline }) => (deadline === undefined ? null : new Date(deadline))),
    priorities: commands.map(({ command }) => command.plan.options.priority),
  })
