import type { RunAction, RunFile } from '@slipway/contracts'

export type Interpreter = RunAction['interpreter']
export type OutputStream = 'stdout' | 'stderr'

/** Which attempt of which step a command is, so that a target recognizes a command that comes twice. */
export interface CommandIdentity {
  deploymentId: string
  epoch: number
  target: number
  action: number
  attempt: number
  rollback: boolean
}

/** One script to run on one target. */
export interface Command {
  identity: CommandIdentity
  script: string
  interpreter: Interpreter
  /** Added to what the transport gives each command of its own (PATH, HOME). */
  environment: Readonly<Record<string, string>>
  /** Where to run it; null for a fresh directory. A relative one lies within the fresh directory and is made. */
  workingDirectory: string | null
  /** After so long whoever asked for it ends it; a target that nobody reaches does so itself. */
  timeoutSeconds?: number
  /** Put into that directory before it starts. */
  files: readonly CommandFile[]
}

export interface CommandFile extends RunFile {
  /** Where its content is on this machine. */
  source: string
}

export interface CommandIo {
  /** Takes a piece of output. While its promise is pending nothing more is read, so that the command has to wait. */
  onOutput(stream: OutputStream, chunk: Buffer): void | Promise<void>
}

export interface CommandEnd {
  /** Null when a signal ended it. */
  exitCode: number | null
  /** Name of the signal that ended it, such as SIGKILL. */
  signal: string | null
  /** False when it was killed and the target did not say that it is gone. */
  confirmed: boolean
}

/**
 * How commands reach one target. `run` resolves when the command itself has ended, whatever it left running in a
 * session of its own (`setsid`); anything else that it started ends with it. An abort sends TERM to its whole process
 * group and KILL after the grace (see Kill). Throws CommandError when the command could not be run to its end.
 */
export interface Transport {
  run(command: Command, io: CommandIo, signal: AbortSignal): Promise<CommandEnd>
  /** A command will come soon: makes ready what it needs to start. What fails is for `run` to find. */
  prepare?(signal: AbortSignal): void
  /**
   * Ends a command that an earlier process, or under an older epoch another instance, has left, where commands live on
   * without the one that asked for them.
   */
  abandon?(identity: CommandIdentity): void
  /** Gives back what is held for the target. No command runs any more. */
  close(): void
}

/** The command did not start, or nobody knows how it ended. The message is the end of a sentence, for people. */
export class CommandError extends Error {
  override name = 'CommandError'
}

/** The command did not start for want of a file. */
export class FileError extends CommandError {
  override name = 'FileError'
  readonly content: string

  constructor(message: string, content: string, options?: ErrorOptions) {
    super(message, options)
    this.content = content
  }
}

/** Whether a disk of this machine, or a quota on it, had no room. */
export function isNoSpace(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return code === 'ENOSPC' || code === 'EDQUOT'
}

/** The command did not start, for want of room on the disk of this machine. It may start later. */
export class NoSpaceError extends CommandError {
  override name = 'NoSpaceError'
}

/** Why a command is killed, as the reason of an abort. */
export class Kill extends Error {
  override name = 'Kill'
  /** Between TERM and KILL. */
  readonly graceMs: number

  constructor(message: string, graceMs: number) {
    super(message)
    this.graceMs = graceMs
  }
}

/** Between TERM and KILL where nothing asks for haste. */
export const KILL_GRACE_MS = 10_000
/** How long after KILL a transport waits for the end to be confirmed. */
export const CONFIRM_MS = 5_000

export function graceOf(signal: AbortSignal): number {
  return signal.reason instanceof Kill ? signal.reason.graceMs : KILL_GRACE_MS
}

/** Resolves when the signal aborts. `forget` must be called when that is no longer of interest. */
export function whenAborted(signal: AbortSignal): { promise: Promise<'aborted'>; forget(): void } {
  let listener = () => {}
  const promise = new Promise<'aborted'>((resolve) => {
    listener = () => resolve('aborted')
    if (signal.aborted) listener()
    else signal.addEventListener('abort', listener, { once: true })
  })
  return { promise, forget: () => signal.removeEventListener('abort', listener) }
}

interface InterpreterCall {
  /** Name of the script's file. */
  file: string
  /** `{}` stands for the script's file. */
  args: readonly string[]
  /** A file that stands beside the script, above the working directory. */
  beside?: { name: string; text: string }
}

/**
 * How each interpreter is called. Node takes scripts and the files that they load for ES modules or for CommonJS by the
 * next package.json in a folder above, so a command brings its own one. Among its `files` may be another one, for them.
 */
export const INTERPRETER_CALLS: Record<Interpreter, InterpreterCall> = {
  sh: { file: 'script', args: ['{}'] },
  bash: { file: 'script', args: ['{}'] },
  python3: { file: 'script.py', args: ['{}'] },
  node: { file: 'script.cjs', args: ['{}'], beside: { name: 'package.json', text: '{ "type": "commonjs" }' } },
  pwsh: { file: 'script.ps1', args: ['-NoLogo', '-NoProfile', '-NonInteractive', '-File', '{}'] },
}
