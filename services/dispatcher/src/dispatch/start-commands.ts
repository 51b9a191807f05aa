import type { CallingKey, CommandBody } from '@slipway/contracts'
import type { NewRequest } from '@slipway/database'

/** A `deployment.start` command with what its message says besides the body. */
export interface StartCommand {
  command: CommandBody<'deployment.start'>
  deadline?: string | undefined
  request_id: string | null
  api_key?: CallingKey | undefined
  traceparent: string | null
}

export const newRequestOf = ({ command, deadline }: StartCommand): NewRequest => ({
  id: command.command_id,
  deadline: deadline === undefined ? null : new Date(deadline),
  plan: command.plan,
  caller: command.caller,
  override: command.freeze_override !== null,
  rules: {
    override: command.rules_override !== null,
    start_at: momentOf(command.start_at),
    expires_at: momentOf(command.expires_at),
  },
})

const momentOf = (time: string | null) => (time === null ? null : new Date(time))
