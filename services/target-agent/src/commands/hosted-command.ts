import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { CommandError, FileError, failureFields, Kill, type LocalCommand, type LocalTransport } from '@slipway/commands'
import type { AgentCommandEnd } from '@slipway/contracts'
import { type CommandFailure, type CommandFailureReason, commandFailure } from '@slipway/domain'
import { failSpan, SpanKind, syncFolder, traced, writeFileAtomically } from '@slipway/runtime'
import { Spool } from './spool.ts'

/** How long the output of a killed command may wait for space in the spool. */
const SPOOL_WAIT_MS = 5_000

/** What a restart needs of a command. Holds no secret. */
interface CommandHeader {
  id: string
  deployment_id: string
  epoch: number
}

interface CommandRef {
  id: string
  deploymentId: string
  epoch: number
}

interface CommandListener {
  /** Receives the id of damaged content before an instance can learn of the end and try again. */
  onDamaged(content: string): void
  onOver(error: unknown): void
}

/**
 * One command with its output. Its folder is the journal. With a header, the command counts as started and never starts again.
 * With the end frame in the spool, the command has ended. Without a spool, the command is forgotten.
 */
export class HostedCommand implements CommandRef {
  readonly id: string
  readonly deploymentId: string
  readonly epoch: number
  readonly folder: string
  /** Null if the command is forgotten. */
  #spool: Spool | null
  readonly #abort = new AbortController()
  /** Why the agent killed the command by itself. */
  #why: CommandFailure | null = null
  #unconfirmed = false
  #calledAt = performance.now()
  #ended: Promise<void> = Promise.resolve()

  private constructor(folder: string, header: CommandHeader, spool: Spool | null) {
    this.folder = folder
    this.id = header.id
    this.deploymentId = header.deployment_id
    this.epoch = header.epoch
    this.#spool = spool
  }

  /** When this resolves, the command counts as started. */
  static async create(folder: string, ref: CommandRef, spoolBytes: number): Promise<HostedCommand> {
    const header: CommandHeader = { id: ref.id, deployment_id: ref.deploymentId, epoch: ref.epoch }
    await mkdir(folder, { mode: 0o700 })
    const spool = await Spool.create(folder, spoolBytes)
    await writeFileAtomically(headerIn(folder), `${JSON.stringify(header)}\n`)
    await syncFolder(path.dirname(folder))
    return new HostedCommand(folder, header, spool)
  }

  /** Reads the folder of an earlier process; null if the command had not started. A command that ran then has ended. */
  static async restore(folder: string, spoolBytes: number): Promise<HostedCommand | null> {
    const text = await readFile(headerIn(folder), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    if (text === null) return null
    const spool = await Spool.restore(folder, spoolBytes)
    const command = new HostedCommand(folder, JSON.parse(text) as CommandHeader, spool)
    if (spool && !spool.complete) {
      const error = 'the agent was restarted while the command ran; what was left of it was killed'
      await spool.finish({ exit_code: null, signal: null, confirmed: true, error, content: null })
    }
    return command
  }

  get spool(): Spool | null {
    return this.#spool
  }

  /** Whether the command runs or is about to start. */
  get isLive(): boolean {
    return this.#spool !== null && !this.#spool.complete
  }

  /** Whether the command was killed and its end was not confirmed. */
  get isUnconfirmed(): boolean {
    return this.#unconfirmed
  }

  get ended(): Promise<void> {
    return this.#ended
  }

  /** The time since the last call of an instance about this command. */
  get sinceLastCallMs(): number {
    return performance.now() - this.#calledAt
  }

  noteCall(): void {
    this.#calledAt = performance.now()
  }

  run(transport: Pick<LocalTransport, 'run'>, command: LocalCommand, { onDamaged, onOver }: CommandListener): void {
    this.#ended = this.#run(transport, command, onDamaged).then(onOver, onOver)
  }

  /** Sends TERM, and KILL after the grace. `why` is the agent's own reason. Only the first call counts. */
  kill(graceMs: number, why: string | null, reason: CommandFailureReason | null = null): void {
    if (this.#abort.signal.aborted) return
    this.#why = why === null ? null : commandFailure(why, reason)
    this.#abort.abort(new Kill(why ?? 'killed', graceMs))
    // An instance that fetches no output frees no space in the spool.
    setTimeout(() => this.#spool?.stopWaiting(), graceMs + SPOOL_WAIT_MS).unref()
  }

  /** Deletes the output. The header stays, so the command cannot start again. */
  async forget(): Promise<void> {
    const spool = this.#spool
    this.#spool = null
    await spool?.remove()
  }

  async #run(
    transport: Pick<LocalTransport, 'run'>,
    command: LocalCommand,
    onDamaged: CommandListener['onDamaged'],
  ): Promise<void> {
    const spool = this.#spool
    const end = await traced('run command', { kind: SpanKind.INTERNAL }, async (span) => {
      const ended = await this.#endOf(transport, command)
      if (ended.exit_code !== null) span.setAttributes({ 'process.exit.code': ended.exit_code })
      if (ended.exit_code !== 0) failSpan(span, 'failed')
      return ended
    })
    this.#unconfirmed = !end.confirmed
    if (end.content !== null) onDamaged(end.content)
    await spool?.finish(end)
  }

  async #endOf(transport: Pick<LocalTransport, 'run'>, command: LocalCommand): Promise<AgentCommandEnd> {
    const { signal } = this.#abort
    const none = { exit_code: null, signal: null, confirmed: true, content: null }
    try {
      const onOutput = (stream: 'stdout' | 'stderr', chunk: Buffer) => this.#spool?.add(stream, chunk)
      const end = await transport.run(command, { onOutput }, signal)
      const { exitCode: exit_code, signal: name, confirmed, leftovers } = end
      const left = leftovers === undefined ? {} : { leftovers }
      return { exit_code, signal: name, confirmed, content: null, ...left, ...failureOf(this.#why) }
    } catch (error) {
      if (signal.aborted) return { ...none, ...failureOf(this.#why) }
      if (error instanceof FileError) return { ...none, ...failureOf(error.failure), content: error.content }
      if (error instanceof CommandError) return { ...none, ...failureOf(error.failure) }
      const { code, message } = error as NodeJS.ErrnoException
      return { ...none, error: `the agent could not run the command (${code ?? message})`.slice(0, 500) }
    }
  }
}

function failureOf(failure: CommandFailure | null) {
  return { error: failure?.message ?? null, ...failureFields(failure) }
}

const headerIn = (folder: string) => path.join(folder, 'header.json')
