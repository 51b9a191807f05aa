/** What a command carries beside its body. */
export interface ReceivedCommand {
  /** The same in every copy of the command. */
  command_id: string
  /** Past it the command has no effect. */
  deadline?: string | undefined
  request_id: string | null
}
