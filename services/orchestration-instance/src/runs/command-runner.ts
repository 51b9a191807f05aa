import { setImmediate } from 'node:timers/promises'
import type { RunSpec } from '@slipway/contracts'
import { type StepRef, UnsafeTemplate } from '@slipway/domain'
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
} from '@slipway/execution'
import { failSpan, type Span, SpanKind, sleep, traced } from '@slipway/runtime'
import type { RunFiles } from '../content/run-files.ts'
import type { EventLog } from '../events/event-log.ts'
import type { JournalDisk } from '../journal/journal-disk.ts'
import { CommandOutput } from '../output/command-output.ts'
import { CommandClock } from './command-clock.ts'
import { commands } from './metrics.ts'
import type { StepValues } from './step-values.ts'
import { clip, endProblem, outputCut, outputLeftOut, timedOut, waitsForRoom } from './wording.ts'

/** Output is handled in slices of this size, so that heartbeats and other work are not delayed. */
const SLICE_BYTES = 8 * 1024
/** The shortest wait after a command found no room for its start. */
const ROOM_MS = 1_000

/** How one attempt of a command ended. */
export interface AttemptResult {
  /** Null when it succeeded, else the reason, for people. */
  error: string | null
  exitCode: number | null
  /** False when it was killed and the target did not say that it is gone. */
  confirmed: boolean
  startedAt: string
  stdoutTail: string
  stderrTail: string
}

export interface CommandRunnerOptions {
  spec: RunSpec
  values: StepValues
  events: EventLog
  files: RunFiles
  /** How much of a command's output is kept. */
  outputBytes: number
  disk: JournalDisk
  transportOf(target: number): Transport
}

/** Runs single attempts of commands: writes the output to the log, applies the timeout, and words what went wrong. */
export class CommandRunner {
  readonly #options: CommandRunnerOptions

  constructor(options: CommandRunnerOptions) {
    this.#options = options
  }

  /** A command will run on the target soon. */
  prepare(target: number, signal: AbortSignal): void {
    this.#options.transportOf(target).prepare?.(signal)
  }

  /** Runs a step's script or its rollback script once. An abort of one of `kills` ends it. */
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
      const outcome = kills.some(({ aborted }) => aborted) ? 'killed' : result.error === null ? 'completed' : 'failed'
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
    const { values, events } = this.#options
    const masker = values.masker(step)
    const startedAt = new Date().toISOString()
    const command = commandOf(values, step, attempt, kind)
    if (command instanceof UnsafeTemplate) return neverRan(command.message, startedAt)
    const output = new CommandOutput(masker, {
      maxBytes: this.#options.outputBytes,
      onLine: (stream, { text, split }) => {
        const level = stream === 'stderr' ? 'error' : 'info'
        events.emitLine({ ...step, stream, level, text, ...(split && { metadata: { split } }) })
      },
      onCut: () => this.#warn(step, outputCut(this.#options.outputBytes)),
      onLeftOut: ({ lines, bytes }) =>
        this.#warn(step, outputLeftOut(lines, bytes), { left_out_lines: lines, left_out_bytes: bytes }),
    })
    const end = await this.#run(step, command, output, kills).catch((error: unknown) => {
      output.abandon()
      throw error
    })
    output.end()
    return {
      error: end.error === null ? null : clip(masker.mask(end.error)),
      exitCode: end.exitCode,
      confirmed: end.confirmed,
      startedAt,
      stdoutTail: output.tail('stdout'),
      stderrTail: output.tail('stderr'),
    }
  }

  #warn(step: StepRef, text: string, metadata?: Record<string, unknown>): void {
    const line = { ...step, stream: 'system', level: 'warning', text } as const
    this.#options.events.emitLine(metadata ? { ...line, metadata } : line)
  }

  async #run(
    step: StepRef,
    command: Omit<Command, 'files'>,
    output: CommandOutput,
    kills: readonly AbortSignal[],
  ): Promise<{ error: string | null; exitCode: number | null; confirmed: boolean }> {
    const { values, files, disk } = this.#options
    const controller = new AbortController()
    const { signal } = controller
    const { timeout_seconds: seconds } = values.action(step)
    // While our disk is full the command may wait with its output. This must not use up its time.
    const fullMs = () => disk.fullMs
    const clock = new CommandClock(seconds * 1_000, fullMs, () => {
      controller.abort(new Kill(timedOut(seconds), KILL_GRACE_MS))
    })
    const taking = new Set<Promise<void>>()
    const io = {
      onOutput: (stream: OutputStream, chunk: Buffer) => {
        const work = this.#take(output, stream, chunk).finally(() => taking.delete(work))
        taking.add(work)
        return work
      },
    }
    const letGo = follow(kills, controller)
    try {
      const end = await this.#runWhenRoomy(step, command, io, clock, signal)
      if (!signal.aborted) return { error: endProblem(end), exitCode: end.exitCode, confirmed: true }
      const doubt = end.confirmed ? '' : '; the target did not confirm its end'
      return { error: `${killMessage(signal)}${doubt}`, exitCode: null, confirmed: end.confirmed }
    } catch (error) {
      // A command that was cancelled before it began did not run. After any other failure its end is unknown.
      const confirmed = !clock.isRunning || error === signal.reason
      if (signal.aborted) return { error: killMessage(signal), exitCode: null, confirmed }
      if (error instanceof FileError) files.doubt(error.content)
      if (error instanceof CommandError) return { error: error.message, exitCode: null, confirmed: true }
      throw error
    } finally {
      clock.stop()
      letGo()
      // A transport that fails does not wait for the output that it has delivered.
      await Promise.all(taking)
    }
  }

  /** A command that finds no room on the disk of this instance has not started: it waits for room, within the same attempt. */
  async #runWhenRoomy(
    step: StepRef,
    command: Omit<Command, 'files'>,
    io: CommandIo,
    clock: CommandClock,
    signal: AbortSignal,
  ): Promise<CommandEnd> {
    const { disk } = this.#options
    for (let failures = 1; ; failures++) {
      try {
        return await this.#runOnce(step, command, io, clock, signal)
      } catch (error) {
        if (!(error instanceof NoSpaceError) || signal.aborted) throw error
        clock.stop()
        await disk.check()
        // There is room, but not enough for this command.
        if (!disk.isFull && failures > 1) throw error
        if (failures === 1) this.#warn(step, waitsForRoom(error.message))
      }
      await sleep(ROOM_MS, signal)
      if (disk.isFull) await unlessAborted(disk.whenRoomy(), signal)
    }
  }

  async #runOnce(
    step: StepRef,
    command: Omit<Command, 'files'>,
    io: CommandIo,
    clock: CommandClock,
    signal: AbortSignal,
  ): Promise<CommandEnd> {
    const { values, files, transportOf } = this.#options
    const held = await files.hold(values.action(step).files ?? [], signal)
    try {
      // Only now, so that the transfer of files does not use up the time of the command.
      clock.start()
      return await transportOf(step.target).run({ ...command, files: held.files }, io, signal)
    } finally {
      held.release()
    }
  }

  async #take(output: CommandOutput, stream: OutputStream, chunk: Buffer): Promise<void> {
    for (let from = 0; from < chunk.length; from += SLICE_BYTES) {
      if (from > 0) await setImmediate()
      output.write(stream, chunk.subarray(from, from + SLICE_BYTES))
      await this.#options.events.whenWritable()
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
  return { error, exitCode: null, confirmed: true, startedAt, stdoutTail: '', stderrTail: '' }
}

/** Without words of the command: only readers of its log may see these. */
function describe(span: Span, outcome: string, { exitCode }: AttemptResult): void {
  if (exitCode !== null) span.setAttributes({ 'process.exit.code': exitCode })
  if (outcome !== 'completed') failSpan(span, outcome)
}

function killMessage(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message : 'killed'
}

/** Waits for the moment. Throws the signal's reason when that comes first. */
async function unlessAborted(moment: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = whenAborted(signal)
  await Promise.race([moment, aborted.promise])
  aborted.forget()
  signal.throwIfAborted()
}

/** Aborts the controller with the first of the signals. Returns how to stop following them. */
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
