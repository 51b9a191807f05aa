import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { AGENT_COMMAND_ID, type AgentCommand } from '@slipway/contracts'
import { after, type CommandFile, KILL_GRACE_MS, type LocalTransport } from '@slipway/execution'
import { createTicker, isSameMajor, type Logger, SLIPWAY_VERSION, type Ticker } from '@slipway/runtime'
import { Refusal } from '../content/refusal.ts'
import type { Shelf } from '../content/shelf.ts'
import { HostedCommand } from './hosted-command.ts'

/** What another command waits for has less time to end. */
const REPLACED_GRACE_MS = 3_000
/** The instance ends a command that takes too long; somewhat later the agent does. */
const TIMEOUT_MARGIN_MS = 5_000
const SWEEP_MS = 1_000
/** How long the output of a command that is over waits for somebody. */
const KEPT_MS = 3_600_000
/** How many commands that are over are kept with their output, and how many are remembered. */
const MAX_KEPT = 1_000
const MAX_REMEMBERED = 10_000

export interface CommandsOptions {
  transport: LocalTransport
  shelf: Shelf
  maxCommands: number
  spoolBytes: number
  orphanedAfterMs: number
  logger: Logger
}

/** All commands of this agent: those that run, those whose output waits to be fetched, and that the others were here. */
export class Commands {
  readonly #folder: string
  readonly #options: CommandsOptions
  /** In the order of their start. */
  readonly #commands = new Map<string, HostedCommand>()
  /** Starts that are under way. */
  readonly #starting = new Map<string, Promise<'started' | 'known'>>()
  /** Of one deployment they come one after the other: an older one must not start beside a newer one. */
  readonly #turns = new Map<string, Promise<unknown>>()
  /** The highest of each deployment. */
  readonly #epochs = new Map<string, number>()
  readonly #sweeper: Ticker
  #closed = false

  private constructor(folder: string, options: CommandsOptions) {
    this.#folder = folder
    this.#options = options
    this.#sweeper = createTicker({
      name: 'the sweep over commands',
      intervalMs: SWEEP_MS,
      run: () => this.#sweep(),
      logger: options.logger,
    })
  }

  static async open(folder: string, options: CommandsOptions): Promise<Commands> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const commands = new Commands(folder, options)
    for (const name of (await readdir(folder)).sort()) await commands.#restore(path.join(folder, name))
    return commands
  }

  get live(): HostedCommand[] {
    return [...this.#commands.values()].filter(({ isLive }) => isLive)
  }

  /** Throws Refusal when it is not known, or forgotten. */
  find(id: string): HostedCommand {
    const command = this.#commands.get(id)
    if (!command?.spool) throw new Refusal('NOT_FOUND', 'There is no such command')
    return command
  }

  /**
   * Starts a command, unless it is known: then nothing happens. What another epoch or try of its deployment left
   * running ends first, so that of one deployment never two commands run. Throws Refusal.
   */
  start(id: string, body: AgentCommand): Promise<'started' | 'known'> {
    const [, deploymentId, epoch] = AGENT_COMMAND_ID.exec(id) ?? []
    if (deploymentId === undefined) throw new Refusal('INVALID', 'This is no id of a command')
    const known = this.#starting.get(id)
    if (known !== undefined) return known
    const before = this.#turns.get(deploymentId) ?? Promise.resolve()
    const started = before.then(() => this.#start({ id, deploymentId, epoch: Number(epoch) }, body))
    const turn = started
      .catch(() => {})
      .then(() => {
        this.#starting.delete(id)
        if (this.#turns.get(deploymentId) === turn) this.#turns.delete(deploymentId)
      })
    this.#turns.set(deploymentId, turn)
    this.#starting.set(id, started)
    return started
  }

  /** Ends a command, and what older epochs of its deployment left: whoever says so has the deployment now. */
  end(id: string, graceMs: number): void {
    const [, deploymentId, epoch] = AGENT_COMMAND_ID.exec(id) ?? []
    for (const command of this.live) {
      if (command.id === id) command.kill(graceMs, null)
      else if (command.deploymentId === deploymentId && command.epoch < Number(epoch)) {
        command.kill(graceMs, 'killed: its deployment was given to another instance')
      }
    }
  }

  async forget(id: string): Promise<void> {
    const command = this.#commands.get(id)
    if (!command?.spool) return
    if (command.isLive) throw new Refusal('INVALID', 'The command still runs')
    await command.forget()
  }

  /** Resolves when nothing runs any more. */
  async killAll(why: string): Promise<void> {
    for (const command of this.live) command.kill(KILL_GRACE_MS, why)
    await Promise.all(this.live.map(({ ended }) => ended))
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.killAll('killed: the agent was stopped')
    await this.#sweeper.stop()
  }

  async #restore(folder: string): Promise<void> {
    const command = await HostedCommand.restore(folder, this.#options.spoolBytes).catch((error) => {
      this.#options.logger.error('what is left of a command cannot be read and is deleted', { folder, error })
      return null
    })
    if (!command) return rm(folder, { recursive: true, force: true })
    this.#commands.set(command.id, command)
    this.#epochs.set(command.deploymentId, Math.max(command.epoch, this.#epochs.get(command.deploymentId) ?? 0))
  }

  async #start(
    ref: { id: string; deploymentId: string; epoch: number },
    body: AgentCommand,
  ): Promise<'started' | 'known'> {
    const { shelf, logger } = this.#options
    if (this.#commands.has(ref.id)) return 'known'
    this.#refuse(ref, body)
    const held = shelf.hold(body.files.map(({ content }) => content))
    try {
      this.#epochs.set(ref.deploymentId, Math.max(ref.epoch, this.#epochs.get(ref.deploymentId) ?? 0))
      await this.#endOthers(ref)
      const command = await HostedCommand.create(path.join(this.#folder, ref.id), ref, this.#options.spoolBytes).catch(
        (error: NodeJS.ErrnoException) => {
          throw new Refusal('DISK', `The disk of the target does not take the command (${error.code ?? error.message})`)
        },
      )
      this.#commands.set(ref.id, command)
      const files = body.files.map((file): CommandFile => ({ ...file, source: shelf.fileOf(file.content) }))
      this.#run(command, body, files, () => held.release())
      logger.info('a command has started', { command: ref.id })
      return 'started'
    } catch (error) {
      held.release()
      throw error
    }
  }

  #refuse({ deploymentId, epoch }: { deploymentId: string; epoch: number }, { version }: AgentCommand): void {
    if (!isSameMajor(version)) {
      throw new Refusal('VERSION', `version ${SLIPWAY_VERSION} of the agent does not fit ${version} of the instance`)
    }
    if (epoch < (this.#epochs.get(deploymentId) ?? 0)) {
      throw new Refusal('FENCED', 'The deployment has been given to another instance')
    }
    if (this.#closed) throw new Refusal('BUSY', 'the agent is being stopped')
    const running = this.live.length + this.#starting.size
    // This one counts among those that start.
    if (running > this.#options.maxCommands) {
      throw new Refusal('BUSY', `the agent runs as many commands as it may (${this.#options.maxCommands})`)
    }
  }

  async #endOthers({ id, deploymentId }: { id: string; deploymentId: string }): Promise<void> {
    const others = this.live.filter((command) => command.deploymentId === deploymentId && command.id !== id)
    for (const other of others)
      other.kill(REPLACED_GRACE_MS, 'killed: another command of its deployment took its place')
    await Promise.all(others.map(({ ended }) => ended))
    if (others.some(({ isUnconfirmed }) => isUnconfirmed)) {
      throw new Refusal('BUSY', 'an earlier command of the deployment cannot be ended')
    }
  }

  #run(command: HostedCommand, body: AgentCommand, files: CommandFile[], release: () => void): void {
    const { transport, shelf, logger } = this.#options
    const seconds = body.timeout_seconds
    const timeOut = () => command.kill(KILL_GRACE_MS, `killed after ${seconds} s (timeout_seconds)`)
    const callOff = seconds === null ? () => {} : after(seconds * 1_000 + TIMEOUT_MARGIN_MS, timeOut)
    command.run(
      transport,
      {
        script: body.script,
        interpreter: body.interpreter,
        environment: body.environment,
        workingDirectory: body.working_directory,
        files,
      },
      (error) => {
        callOff()
        release()
        // It is sent again with the next try.
        if (command.damaged !== null) shelf.discard(command.damaged)
        if (error) logger.error('the end of a command could not be kept', { command: command.id, error })
        else logger.info('a command has ended', { command: command.id })
      },
    )
  }

  async #sweep(): Promise<void> {
    const { orphanedAfterMs } = this.#options
    const seconds = orphanedAfterMs / 1_000
    for (const command of this.live) {
      if (command.unaskedMs < orphanedAfterMs) continue
      command.kill(KILL_GRACE_MS, `killed: no instance asked about it for ${seconds} s`)
    }
    const over = [...this.#commands.values()].filter(({ isLive, spool }) => spool !== null && !isLive)
    const tooMany = over.length - MAX_KEPT
    for (const [index, command] of over.entries()) {
      if (index < tooMany || command.unaskedMs > KEPT_MS) await this.forget(command.id)
    }
    const forgotten = [...this.#commands.values()].filter(({ spool }) => spool === null)
    for (const command of forgotten.slice(0, Math.max(0, forgotten.length - MAX_REMEMBERED))) {
      this.#commands.delete(command.id)
      await rm(command.folder, { recursive: true, force: true })
      const others = [...this.#commands.values()].some(({ deploymentId }) => deploymentId === command.deploymentId)
      if (!others) this.#epochs.delete(command.deploymentId)
    }
  }
}
