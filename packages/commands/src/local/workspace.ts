import { statfs } from 'node:fs/promises'
import { type Command, CommandError, NoSpaceError } from '../command.ts'

/** A local command cannot arrive twice, so it needs no identity. */
export type LocalCommand = Omit<Command, 'identity'>

/** How to start a command after its directory, script and files were created. */
export interface PreparedCommand {
  program: string
  args: readonly string[]
  /** The working directory of the program. It may differ from that of the command, like `env`. */
  cwd: string
  env: Readonly<Record<string, string>>
  /** The program waits for this text on file descriptor 3 before it executes the command. */
  go: string
  /** Deletes the directory of the command. */
  remove(): Promise<void>
}

/** Creates a directory for each command, with its script and files. */
export interface Workspace {
  /** Throws CommandError, or the signal's reason after an abort. */
  prepare(command: LocalCommand, signal: AbortSignal): Promise<PreparedCommand>
}

/** Without a PATH of their own, commands search here. */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Shell code before each command: what the command creates has the same permissions on every machine. */
export const COMMAND_UMASK = 'umask 022'

/** The variables of a command. It must not inherit the environment of this process, which holds credentials. */
export function environmentOf(
  { environment }: LocalCommand,
  { home, searchPath }: { home: string; searchPath: string },
): Record<string, string> & { PATH: string } {
  return { HOME: home, ...environment, PATH: environment['PATH'] ?? searchPath }
}

export const interpreterMissing = (interpreter: string, machine: string, searchPath: string): CommandError =>
  new CommandError(
    `the interpreter ${interpreter} was not found on ${machine}: install it or choose another one (PATH ${searchPath})`,
    'interpreter_missing',
    interpreter,
  )

export const TOO_LARGE = 'the command could not start: its variables are too large for an environment'

export const noSpace = (machine: string): NoSpaceError =>
  new NoSpaceError(`the command could not start: the disk of ${machine} is full`)

/** Whether the disk of the folder has no free blocks or inodes. Use it after a program whose error is only a text. */
export async function isDiskFull(folder: string): Promise<boolean> {
  const { blocks, bavail, files, ffree } = await statfs(folder)
  return (blocks > 0 && bavail === 0) || (files > 0 && ffree === 0)
}
