import {
  type Command,
  type CommandEnd,
  CommandError,
  type CommandIo,
  FileError,
  KILL_GRACE_MS,
  Kill,
  NoSpaceError,
  type OutputStream,
  type Transport,
  whenAborted,
} from '@slipway/commands'
import type { RunSpec } from '@slipway/contracts'
import { type CommandFailure, commandFailure, type StepRef, UnsafeTemplate } from '@slipway/domain'
import { failSpan, type Span, SpanKind, sleep, traced } from '@slipway/runtime'
import type { RunFiles } from '../content/run-files.ts'
import type { EventLog } from '../events/event-log.ts'
import type { PartialLineSender } from '../events/partial-line-sender.ts'
import type { JournalDisk } from '../journal/journal-disk.ts'
import { CommandOutput } from '../output/command-output.ts'
import { maskingShare } from '../output/event-loop-share.ts'
import type { Masker } from '../output/masking.ts'
import { CommandClock } from './command-clock.ts'
import { commands } from './metrics.ts'
import type { StepValues } from './step-values.ts'
import { clip, failureOf, leftoversKilled, outputCut, outputLeftOut, timedOut, waitingForSpace } from './wording.ts'

/** Decoding so much and splitting it into lines takes far less than a turn of the event loop may. */
const SLICE_BYTES = 8 * 1024
const NOTHING = new Uint8Array()
/** The protocol limits subjects to 4,096 characters. */
const MAX_SUBJECT_CHARACTERS = 4_000
/** The shortest wait after a command found no disk space for its start. */
const SPACE_RETRY_MS = 1_000

/** How one attempt of a command ended. */
export interface AttemptResult {
  /** Null when the command succeeded. */
  failure: CommandFailure | null
  exitCode: number | null
  /** False when the command was killed and the target did not confirm its end. */
  confirmed: boolean
  startedAt: string
  stdoutTail: string
  stderrTail: string
}

interface CommandRunnerOptions {
  spec: RunSpec
  values: StepValues
  events: EventLog
  partialLines: PartialLineSender
  files: RunFiles
  /** The limit of the output of one command. The middle of a longer output is left out. */
  outputBytes: number
  disk: JournalDisk
  transportOf(target: number): Transport
}

interface CommandExecution {
  step: StepRef
  command: Omit<Command, 'files'>
  io: CommandIo
  clock: CommandClock
  signal: AbortSignal
}

/** Runs single attempts of commands: writes the output to the log, applies the timeout, and explains a failure. */
export class CommandRunner {
  readonly #options: CommandRunnerOptions

  constructor(options: CommandRunnerOptions) {
    this.#options = options
  }

  /** Opens the connection to a target before its first command. */
  prepare(target: number, signal: AbortSignal): void {
    this.#options.transportOf(target).prepare?.(signal)
  }

  /** Runs the script of a step, or its rollback script, once. An abort of one of `kills` kills the command. */
  run(
    step: StepRef,
    kind: 'action' | 'rollback',
    attempt: number,
    kills: readonly AbortSignal[],
  ): Promise<AttemptResult> {
    const target = this.#options.spec.targets[step.target]
    const transport = target?.connection.type ?? ''
    const attributes = {
      'slipway.target_id': target?.id ?? '',
      'slipway.action': step.action,
      'slipway.attempt': attempt,
      'slipway.transport': transport,
    }
    const began = performance.now()
    return traced(`run ${kind}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
      const result = await this.#attempt(step, kind, attempt, kills)
      const outcome = kills.some(({ aborted }) => aborted) ? 'killed' : result.failure === null ? 'completed' : 'failed'
      commands.observe({ transport, outcome }, (performance.now() - began) / 1_000)
      describe(span, outcome, result)
      return result
    })
  }

  async #attempt(
    step: StepRef,
    kind: 'action' | 'rollback',
    attempt: number,
    kills: readonly AbortSignal[],
  ): Promise<AttemptResult> {
    const { values, events, partialLines } = this.#options
    const masker = await values.masker
    const startedAt = new Date().toISOString()
    const command = commandOf(values, step, attempt, kind)
    if (command instanceof UnsafeTemplate) return neverRan(command.message, startedAt)
    const output = new CommandOutput(masker, {
      maxBytes: this.#options.outputBytes,
      onLine: (stream, { text, split }) => {
        const level = stream === 'stderr' ? 'error' : 'info'
        partialLines.drop({ ...step, stream })
        events.emitLine({ ...step, stream, level, text, ...(split && { metadata: { split } }) })
      },
      onPartialLine: (stream, text) =>
        partialLines.put({ ...step, at: new Date().toISOString(), stream, text, next_line: events.nextLine }),
      onCut: () => events.emitSystemLine('warning', step, outputCut(this.#options.outputBytes)),
      onLeftOut: ({ lines, bytes }) =>
        events.emitSystemLine('warning', step, outputLeftOut(lines, bytes), {
          left_out_lines: lines,
          left_out_bytes: bytes,
        }),
    })
    const end = await this.#run(step, command, output, kills).catch((error: unknown) => {
      output.abandon()
      throw error
    })
    output.end()
    if (end.leftovers !== undefined) {
      events.emitSystemLine('warning', step, leftoversKilled(end.leftovers), { killed_processes: end.leftovers })
    }
    return {
      failure: end.failure && maskedFailure(end.failure, masker),
      exitCode: end.exitCode,
      confirmed: end.confirmed,
      startedAt,
      stdoutTail: output.tail('stdout'),
      stderrTail: output.tail('stderr'),
    }
  }

  async #run(
    step: StepRef,
    command: Omit<Command, 'files'>,
    output: CommandOutput,
    kills: readonly AbortSignal[],
  ): Promise<Pick<AttemptResult, 'failure' | 'exitCode' | 'confirmed'> & Pick<CommandEnd, 'leftovers'>> {
    const { values, files, disk } = this.#options
    const controller = new AbortController()
    const { signal } = controller
    const { timeout_seconds: seconds } = values.action(step)
    // While the disk of the instance is full, the command may have to wait with its output. This wait is not its fault.
    const fullMs = () => disk.fullMs
    const clock = new CommandClock(seconds * 1_000, fullMs, () => {
      controller.abort(new Kill(timedOut(seconds), KILL_GRACE_MS, 'step_timeout'))
    })
    const outputTasks = new Set<Promise<void>>()
    const io = {
      onOutput: (stream: OutputStream, chunk: Buffer) => {
        const work = this.#write(output, stream, chunk).finally(() => outputTasks.delete(work))
        outputTasks.add(work)
        return work
      },
    }
    const unfollow = follow(kills, controller)
    try {
      const end = await this.#runWaitingForSpace({ step, command, io, clock, signal })
      if (!signal.aborted) return { ...end, failure: failureOf(end), confirmed: true }
      const killed = killFailure(signal)
      const unconfirmed = end.confirmed ? '' : '; the target did not confirm its end'
      const failure = { ...killed, message: `${killed.message}${unconfirmed}` }
      return { failure, exitCode: null, confirmed: end.confirmed }
    } catch (error) {
      // A command that was killed before it started did not run. After any other failure its end is unknown.
      const confirmed = !clock.isRunning || error === signal.reason
      if (signal.aborted) return { failure: killFailure(signal), exitCode: null, confirmed }
      if (error instanceof FileError) files.verifyAgain(error.content)
      if (error instanceof CommandError) return { failure: error.failure, exitCode: null, confirmed: true }
      throw error
    } finally {
      clock.stop()
      unfollow()
      // A failed transport returns before its output is written.
      await Promise.all(outputTasks)
    }
  }

  /** Without disk space for its files a command does not start. It waits for space within the same attempt. */
  async #runWaitingForSpace(execution: CommandExecution): Promise<CommandEnd> {
    const { step, clock, signal } = execution
    const { disk, events } = this.#options
    for (let failures = 1; ; failures++) {
      try {
        return await this.#runOnce(execution)
      } catch (error) {
        if (!(error instanceof NoSpaceError) || signal.aborted) throw error
        clock.stop()
        await disk.check()
        // The disk has space, but not enough for this command.
        if (!disk.isFull && failures > 1) throw error
        if (failures === 1) events.emitSystemLine('warning', step, waitingForSpace(error.message))
      }
      await sleep(SPACE_RETRY_MS, signal)
      if (disk.isFull) await unlessAborted(disk.whenFree(), signal)
    }
  }

  async #runOnce({ step, command, io, clock, signal }: CommandExecution): Promise<CommandEnd> {
    const { values, files, transportOf } = this.#options
    const held = await files.hold(values.action(step).files ?? [], signal)
    try {
      // The transfer of files does not count against the timeout of the command.
      clock.start()
      return await transportOf(step.target).run({ ...command, files: held.files }, io, signal)
    } finally {
      held.release()
    }
  }

  async #write(output: CommandOutput, stream: OutputStream, chunk: Buffer): Promise<void> {
    for (let from = 0; from < chunk.length; from += SLICE_BYTES) {
      let slice: Uint8Array = chunk.subarray(from, from + SLICE_BYTES)
      for (let isBehind = true; isBehind; slice = NOTHING) {
        isBehind = await maskingShare.run((deadline) => output.write(stream, slice, deadline))
        await this.#options.events.whenWritable()
      }
    }
  }
}

/** The command of a step, or the error if its values are not safe at their places in the script. */
function commandOf(values: StepValues, step: StepRef, attempt: number, kind: 'action' | 'rollback') {
  try {
    return values.command(step, attempt, kind)
  } catch (error) {
    if (error instanceof UnsafeTemplate) return error
    throw error
  }
}

const neverRan = (error: string, startedAt: string): AttemptResult => {
  return { failure: commandFailure(error), exitCode: null, confirmed: true, startedAt, stdoutTail: '', stderrTail: '' }
}

/** The span gets no output of the command: only readers of the deployment's log may see it. */
function describe(span: Span, outcome: string, { exitCode }: AttemptResult): void {
  if (exitCode !== null) span.setAttributes({ 'process.exit.code': exitCode })
  if (outcome !== 'completed') failSpan(span, outcome)
}

function killFailure({ reason }: AbortSignal): CommandFailure {
  return reason instanceof Kill ? reason.failure : commandFailure(reason instanceof Error ? reason.message : 'killed')
}

const maskedFailure = ({ message, reason, subject }: CommandFailure, masker: Masker): CommandFailure =>
  commandFailure(clip(masker.mask(message)), reason, subject && clip(masker.mask(subject), MAX_SUBJECT_CHARACTERS))

/** Waits for the promise. If the signal aborts first, throws its reason. */
async function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = whenAborted(signal)
  await Promise.race([promise, aborted.promise])
  aborted.forget()
  signal.throwIfAborted()
}

/** Aborts the controller with the first of the signals. Returns a function that removes the listeners. */
function follow(signals: readonly AbortSignal[], controller: AbortController): () => void {
  const listeners = signals.map((signal) => {
    const listener = () => controller.abort(signal.reason)
    if (signal.aborted) listener()
    else signal.addEventListener('abort', listener, { once: true })
    return () => signal.removeEventListener('abort', listener)
  })
  return () => {
    for (const remove of listeners) remove()
  }
}
