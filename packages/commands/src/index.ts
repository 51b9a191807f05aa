export {
  CONFIRM_MS,
  type Command,
  type CommandEnd,
  CommandError,
  type CommandFile,
  type CommandIdentity,
  type CommandIo,
  FileError,
  graceOf,
  INTERPRETER_CALLS,
  isNoSpace,
  KILL_GRACE_MS,
  Kill,
  NoSpaceError,
  type OutputStream,
  type Transport,
  whenAborted,
} from './command.ts'
export { ContentFolder, WrongContent } from './content/content-folder.ts'
export { failureFields } from './failure-fields.ts'
export { Lifeline } from './lifeline.ts'
export type { LocalLimits } from './local/limits.ts'
export { LocalTransport } from './local/local-transport.ts'
export { LocalUser, LocalUserError } from './local/local-user.ts'
export type { LocalCommand } from './local/workspace.ts'
export { shellQuoted } from './shell-quoted.ts'
export { after } from './timer.ts'
