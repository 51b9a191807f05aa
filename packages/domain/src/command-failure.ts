/** Why a command failed, other than by its exit code: Slipway could not start it, lost it, or ended it. */
export const COMMAND_FAILURE_REASONS = [
  'signal',
  'step_timeout',
  'deployment_timeout',
  'deployment_ended',
  'instance_lost',
  'instance_restarted',
  'instance_cut_off',
  'target_refused',
  'target_silent',
  'target_name_unknown',
  'target_authentication',
  'target_host_key',
  'target_connection_lost',
  'target_shell',
  'working_directory_missing',
  'interpreter_missing',
  'content_not_delivered',
] as const

export type CommandFailureReason = (typeof COMMAND_FAILURE_REASONS)[number]

export interface CommandFailure {
  /** Ends a sentence for users. */
  message: string
  /** Null if there is no code for it, or the message says it all, as with an exit code. */
  reason: CommandFailureReason | null
  /** What the reason is about: the signal, the interpreter or the working directory. Null for other reasons. */
  subject: string | null
}

export function commandFailure(
  message: string,
  reason: CommandFailureReason | null = null,
  subject: string | null = null,
): CommandFailure {
  return { message, reason, subject }
}
