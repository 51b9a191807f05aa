import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { type CommandFile, KILL_GRACE_MS, type LocalTransport } from '@slipway/commands'
import { AGENT_COMMAND_ID, type AgentCommand } from '@slipway/contracts'
import { after, createTicker, isSameMajor, type Logger, SLIPWAY_VERSION, type Ticker } from '@slipway/runtime'
import type { ContentStore } from '../content/content-store.ts'
import { Refusal } from '../content/refusal.ts'
import { HostedCommand } from './hosted-command.ts'

/** The grace of a command that another command replaces. It is short, because the other command waits. */
const REPLACED_GRACE_MS = 3_000
/** The agent kills a command this long after its timeout, if the instance has not done so. */
const TIMEOUT_MARGIN_MS = 5_000
const SWEEP_MS = 1_000
/** How long the output of an ended command is kept without a call of an instance. */
const KEPT_MS = 3_600_000
/** How many ended commands are kept with their output. */
const MAX_KEPT = 1_000
/** How many forgotten commands keep their header, so that they do not start again. */
const MAX_REMEMBERED = 10_000

interface CommandsOptions {
  transport: LocalTransport
  content: ContentStore
  maxCommands: number
  spoolBytes: number
  orphanedAfterMs: number
  logger: Logger
}

/** All commands of this agent: live ones, ended ones with output to fetch, and forgotten ones. */
export class Commands {
  readonly #folder: string
  readonly #options: CommandsOptions
  /** The commands in the order of their start. */
  readonly #commands = new Map<string, HostedCommand>()
  readonly #starting = new Map<string, Promise<'started' | 'known'>>()
  /** The last start of each deployment. Starts of one deployment run one after another, so its commands never overlap. */
  readonly #lastStarts = new Map<string, Promise<unknown>>()
  /** The highest epoch of each deployment. */
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

  /** Throws Refusal if the command is not known or is forgotten. */
  find(id: string): HostedCommand {
    const command = this.#commands.get(id)
    if (!command?.spool) throw new Refusal('NOT_FOUND', `There is no command ${id}`)
    return command
  }

  /**
   * Starts a command unless it is known. Ends other live commands of the deployment first, so a deployment never has two live
   * commands. Throws Refusal.
   */
  start(id: string, body: AgentCommand): Promise<'started' | 'known'> {
    const [, deploymentId, epoch] = AGENT_COMMAND_ID.exec(id) ?? []
    if (deploymentId === undefined) throw new Refusal('INVALID', `${id} is not the id of a command`)
    const known = this.#starting.get(id)
    if (known !== undefined) return known
    const before = this.#lastStarts.get(deploymentId) ?? Promise.resolve()
    const started = before.then(() => this.#start({ id, deploymentId, epoch: Number(epoch) }, body))
    const settled = started
      .catch(() => {})
      .then(() => {
        this.#starting.delete(id)
        if (this.#lastStarts.get(deploymentId) === settled) this.#lastStarts.delete(deploymentId)
      })
    this.#lastStarts.set(deploymentId, settled)
    this.#starting.set(id, started)
    return started
  }

  /** Ends a command, and live commands of older epochs of its deployment. */
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
    if (command.isLive) throw new Refusal('INVALID', 'The command still runs: end it first')
    await command.forget()
  }

  /** Resolves when all commands have ended. */
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
      this.#options.logger.error('the folder of a command cannot be read and is deleted', { folder, error })
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
    const { content, logger } = this.#options
    if (this.#commands.has(ref.id)) return 'known'
    this.#refuse(ref, body)
    const held = content.hold(body.files.map((file) => file.content))
    try {
      this.#epochs.set(ref.deploymentId, Math.max(ref.epoch, this.#epochs.get(ref.deploymentId) ?? 0))
      await this.#endOthers(ref)
      const command = await HostedCommand.create(path.join(this.#folder, ref.id), ref, this.#options.spoolBytes).catch(
        (error: NodeJS.ErrnoException) => {
          throw new Refusal(
            'DISK',
            `The command cannot be written to the disk of the target (${error.code ?? error.message})`,
          )
        },
      )
      this.#commands.set(ref.id, command)
      const files = body.files.map((file): CommandFile => ({ ...file, source: content.fileOf(file.content) }))
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
      throw new Refusal(
        'VERSION',
        `The agent has version ${SLIPWAY_VERSION} and the instance ${version}: their major versions must match`,
      )
    }
    if (epoch < (this.#epochs.get(deploymentId) ?? 0)) {
      throw new Refusal('FENCED', 'Another instance has a newer lease of the deployment')
    }
    if (this.#closed) throw new Refusal('BUSY', 'The agent is being stopped')
    const running = this.live.length + this.#starting.size
    // `#starting` includes this command.
    if (running > this.#options.maxCommands) {
      throw new Refusal('BUSY', `The agent already runs ${this.#options.maxCommands} commands (SLIPWAY_AGENT_COMMANDS)`)
    }
  }

  async #endOthers({ id, deploymentId }: { id: string; deploymentId: string }): Promise<void> {
    const others = this.live.filter((command) => command.deploymentId === deploymentId && command.id !== id)
    for (const other of others)
      other.kill(REPLACED_GRACE_MS, 'killed: another command of its deployment took its place')
    await Promise.all(others.map(({ ended }) => ended))
    if (others.some(({ isUnconfirmed }) => isUnconfirmed)) {
      throw new Refusal(
        'BUSY',
        'An earlier command of the deployment cannot be ended: look for its processes on the target',
      )
    }
  }

  #run(command: HostedCommand, body: AgentCommand, files: CommandFile[], release: () => void): void {
    const { transport, content, logger } = this.#options
    const seconds = body.timeout_seconds
    const timeOut = () => command.kill(KILL_GRACE_MS, `killed after ${seconds} s (timeout_seconds)`, 'step_timeout')
    const clearTimer = seconds === null ? () => {} : after(seconds * 1_000 + TIMEOUT_MARGIN_MS, timeOut)
    command.run(
      transport,
      {
        script: body.script,
        interpreter: body.interpreter,
        environment: body.environment,
        workingDirectory: body.working_directory,
        files,
      },
      {
        // The instance sends the content again with the next attempt.
        onDamaged: (id) => content.discard(id),
        onOver: (error) => {
          clearTimer()
          release()
          if (error) logger.error('the end of a command could not be stored', { command: command.id, error })
          else logger.info('a command has ended', { command: command.id })
        },
      },
    )
  }

  async #sweep(): Promise<void> {
    const { orphanedAfterMs } = this.#options
    const seconds = orphanedAfterMs / 1_000
    for (const command of this.live) {
      if (command.sinceLastCallMs < orphanedAfterMs) continue
      command.kill(KILL_GRACE_MS, `killed: no instance asked about it for ${seconds} s`, 'instance_cut_off')
    }
    const ended = [...this.#commands.values()].filter(({ isLive, spool }) => spool !== null && !isLive)
    const tooMany = ended.length - MAX_KEPT
    for (const [index, command] of ended.entries()) {
      if (index < tooMany || command.sinceLastCallMs > KEPT_MS) await this.forget(command.id)
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
