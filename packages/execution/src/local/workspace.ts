import { type Command, NoSpaceError } from '../command.ts'

/** A command runs once here, so which try of which step it is does not matter. */
export type LocalCommand = Omit<Command, 'identity'>

/** How to start a command that has its directory, script and files. */
export interface PreparedCommand {
  program: string
  args: readonly string[]
  /** Working directory and environment of the program, which are not always those of the command. */
  cwd: string
  env: Readonly<Record<string, string>>
  /** The program waits for this text on its file descriptor 3 before it becomes the command. */
  go: string
  /** Deletes what was made for the command. */
  remove(): Promise<void>
}

/** Makes what commands need on this machine: a directory of their own, with their script and files in it. */
export interface Workspace {
  /** Throws CommandError when the command cannot be prepared, and the signal's reason when that comes first. */
  prepare(command: LocalCommand, signal: AbortSignal): Promise<PreparedCommand>
}

export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * The variables that a command has. Nothing else of this process's own environment: it holds its credentials.
 */
export function environmentOf(command: LocalCommand, home: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] || DEFAULT_PATH,
    HOME: home,
    LANG: process.env['LANG'] || 'C.UTF-8',
    ...command.environment,
  }
}

export const interpreterMissing = (interpreter: string, machine: string, searchPath: string): string =>
  `the interpreter ${interpreter} was not found on ${machine}: install it or choose another one (PATH ${searchPath})`

export const TOO_LARGE = 'the command could not start: its variables are too large for an environment'

export const noSpace = (machine: string): NoSpaceError =>
  new NoSpaceError(`the command could not start: there is no room on the disk of ${machine}`)
