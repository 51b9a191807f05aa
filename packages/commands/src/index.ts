// Runs the commands of a deployment on this machine, for instances and agents: process groups, output, files, another user.

export {
  CONFIRM_MS,
  type Command,
  type CommandEnd,
  CommandError,
  type CommandFile,
  type CommandIdentity,
  type CommandIo,
  FileError,
  failureFields,
  graceOf,
  INTERPRETER_CALLS,
  isNoSpace,
  KILL_GRACE_MS,
  Kill,
  NoSpaceError,
  type OutputStream,
  shellQuoted,
  type Transport,
  whenAborted,
} from './command.ts'
export { ContentFolder, WrongContent } from './content/content-folder.ts'
export { Lifeline } from './lifeline.ts'
export type { LocalLimits } from './local/local-transport.ts'
export { LocalTransport } from './local/local-transport.ts'
export { LocalUser, LocalUserError } from './local/local-user.ts'
export type { LocalCommand } from './local/workspace.ts'
