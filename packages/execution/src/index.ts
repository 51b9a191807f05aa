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
  type Interpreter,
  KILL_GRACE_MS,
  Kill,
  type OutputStream,
  type Transport,
  whenAborted,
} from './command.ts'
export { Lifeline } from './lifeline.ts'
export type { LocalLimits } from './local/limits.ts'
export { LocalTransport } from './local/local-transport.ts'
export { OutputPump } from './output-pump.ts'
