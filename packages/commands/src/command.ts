import type { RunAction, RunFile } from '@slipway/contracts'
import { type CommandFailure, type CommandFailureReason, commandFailure } from '@slipway/domain'

export type Interpreter = RunAction['interpreter']
export type OutputStream = 'stdout' | 'stderr'

/** Identifies one attempt of one step, so that a target recognizes a repeated command. */
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
  /** Added to the variables that the transport sets for each command (PATH, HOME). */
  environment: Readonly<Record<string, string>>
  /** Null for a new directory. A relative path is created in the new directory. An absolute path must exist. */
  workingDirectory: string | null
  /** The caller kills the command after this time. An agent without contact does so itself. */
  timeoutSeconds?: number
  /** Placed in the working directory before the command starts. */
  files: readonly CommandFile[]
}

export interface CommandFile extends RunFile {
  /** The file on this machine with the content. */
  source: string
}

export interface CommandIo {
  /** Receives a piece of output. No more output is read until the promise resolves, so the command has to wait. */
  onOutput(stream: OutputStream, chunk: Buffer): void | Promise<void>
}

export interface CommandEnd {
  /** Null if a signal ended the command. */
  exitCode: number | null
  /** The name of that signal, such as SIGKILL. */
  signal: string | null
  /** False if the command was killed and the target did not confirm its end. */
  confirmed: boolean
  /** How many processes of its group were killed after its end; null if the number is not known. Absent if there were none. */
  leftovers?: number | null
}

/**
 * Runs commands on one target. `run` resolves when the command has ended. Then the other processes of its process group are
 * killed; a daemon in its own session (`setsid`) continues. An abort sends TERM to the process group, and KILL after the
 * grace (see Kill). Throws CommandError if the command did not start or its end is not known.
 */
export interface Transport {
  run(command: Command, io: CommandIo, signal: AbortSignal): Promise<CommandEnd>
  /** Prepares for the next command, for example opens a connection. `run` reports failures. */
  prepare?(signal: AbortSignal): void
  /**
   * Ends a command of an earlier process or of an instance with an older lease. Only transports on which commands outlive the
   * instance need this.
   */
  abandon?(identity: CommandIdentity): void
  /** Releases the resources for the target. Call it when no command runs. */
  close(): void
}

/** The command did not start, or its end is not known. The message ends a sentence for users. */
export class CommandError extends Error {
  override name = 'CommandError'
  readonly failure: CommandFailure

  constructor(
    message: string,
    reason: CommandFailureReason | null = null,
    subject: string | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.failure = commandFailure(message, reason, subject)
  }
}

/** The command did not start, because one of its files is missing or damaged. */
export class FileError extends CommandError {
  override name = 'FileError'
  readonly content: string

  constructor(message: string, content: string, options?: ErrorOptions) {
    super(message, 'content_not_delivered', null, options)
    this.content = content
  }
}

/** Whether a write failed because a disk or quota of this machine is full. */
export function isNoSpace(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return code === 'ENOSPC' || code === 'EDQUOT'
}

/** The command did not start, because the disk of this machine is full. A later attempt may succeed. */
export class NoSpaceError extends CommandError {
  override name = 'NoSpaceError'
}

/** The reason of an abort that kills a command. */
export class Kill extends Error {
  override name = 'Kill'
  /** The time between TERM and KILL. */
  readonly graceMs: number
  readonly failure: CommandFailure

  constructor(message: string, graceMs: number, reason: CommandFailureReason | null = null) {
    super(message)
    this.graceMs = graceMs
    this.failure = commandFailure(message, reason)
  }
}

/** The default time between TERM and KILL. */
export const KILL_GRACE_MS = 10_000
/** How long a transport waits for the confirmation of the end after KILL. */
export const CONFIRM_MS = 5_000

export function graceOf(signal: AbortSignal): number {
  return signal.reason instanceof Kill ? signal.reason.graceMs : KILL_GRACE_MS
}

/** Resolves when the signal aborts. Call `forget` to remove the listener. */
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
  /** The name of the script file. */
  file: string
  /** `{}` is replaced by the path of the script file. */
  args: readonly string[]
  /** A further file in the directory of the script, above the working directory. */
  beside?: { name: string; text: string }
}

/**
 * How to call each interpreter. Node decides between ES modules and CommonJS by the nearest package.json above a file, so each
 * command gets its own package.json. The `files` of an action may include another one for the working directory.
 */
export const INTERPRETER_CALLS: Record<Interpreter, InterpreterCall> = {
  sh: { file: 'script', args: ['{}'] },
  bash: { file: 'script', args: ['{}'] },
  python3: { file: 'script.py', args: ['{}'] },
  node: { file: 'script.cjs', args: ['{}'], beside: { name: 'package.json', text: '{ "type": "commonjs" }' } },
  pwsh: { file: 'script.ps1', args: ['-NoLogo', '-NoProfile', '-NonInteractive', '-File', '{}'] },
}

/** The reason of a failure as the protocols carry it: what is null is left out. */
export function failureFields(failure: CommandFailure | null): { reason?: CommandFailureReason; subject?: string } {
  const { reason = null, subject = null } = failure ?? {}
  return { ...(reason !== null && { reason }), ...(subject !== null && { subject }) }
}

/** Quotes a value as one shell word. */
export function shellQuoted(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`
}
