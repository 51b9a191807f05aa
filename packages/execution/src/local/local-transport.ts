import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import {
  CONFIRM_MS,
  type CommandEnd,
  CommandError,
  type CommandIo,
  graceOf,
  type Transport,
  whenAborted,
} from '../command.ts'
import { Lifeline } from '../lifeline.ts'
import { OutputPump } from '../output-pump.ts'
import { isDiskFull } from './disk.ts'
import { Fifos, type Pipe } from './fifos.ts'
import { type LocalLimits, limitCommands } from './limits.ts'
import type { LocalUser } from './local-user.ts'
import { OwnWorkspace } from './own-workspace.ts'
import { groupEnds, signalGroup } from './process-group.ts'
import { UserWorkspace } from './user-workspace.ts'
import { Watchdog } from './watchdog.ts'
import { type LocalCommand, noSpace, type PreparedCommand, TOO_LARGE, type Workspace } from './workspace.ts'

const DETACH_MS = 300

export interface LocalOptions {
  /** Commands live no longer; unless given, as long as this process. */
  lifeline?: Lifeline
  /** What errors call this machine. */
  machine?: string
  limits?: LocalLimits
}

export interface LocalUserOptions extends LocalOptions {
  user: LocalUser
  /** Holds the directories of the user's commands. The user must be able to reach it. */
  userFolder: string
}

/** Runs commands on the machine of its own process, each in a process group and a fresh directory of its own. */
export class LocalTransport implements Transport {
  readonly #folder: string
  readonly #machine: string
  readonly #workspace: Workspace
  readonly #user: LocalUser | null
  readonly #fifos: Fifos
  readonly #watchdog: Watchdog

  /** Commands run as the user of this process. `folder` exists, and holds pipes and the commands' directories. */
  constructor(folder: string, options: LocalOptions = {}, asUser: UserWorkspace | null = null) {
    const { lifeline = new Lifeline(), machine = 'the instance', limits } = options
    this.#folder = folder
    this.#machine = machine
    this.#user = asUser?.user ?? null
    this.#workspace = asUser ?? new OwnWorkspace(folder, machine, limitCommands(limits))
    this.#watchdog = new Watchdog(lifeline, this.#user?.processes)
    // A script that writes to /dev/stderr opens the pipe again, as its user.
    this.#fifos = new Fifos(folder, { othersMayWrite: asUser !== null })
  }

  /**
   * Commands run as another user. `folder` exists, and holds pipes; nobody but the user of this process can enter it.
   * @throws LocalUserError
   */
  static async asUser(folder: string, { user, userFolder, ...options }: LocalUserOptions): Promise<LocalTransport> {
    const { machine = 'the instance', limits } = options
    const workspace = await UserWorkspace.open(userFolder, user, machine, limitCommands(limits))
    return new LocalTransport(folder, options, workspace)
  }

  async run(command: LocalCommand, io: CommandIo, signal: AbortSignal): Promise<CommandEnd> {
    const prepared = await this.#workspace.prepare(command, signal)
    try {
      return await this.#runPrepared(prepared, io, signal)
    } finally {
      await prepared.remove()
    }
  }

  /** Targets share one such transport: nothing is held for a single one. */
  close(): void {}

  /** The process ends: the watchdog kills what is left. */
  shutDown(): void {
    this.#watchdog.close()
  }

  async #runPrepared(prepared: PreparedCommand, io: CommandIo, signal: AbortSignal): Promise<CommandEnd> {
    const [stdout, stderr] = await this.#openPipes()
    const pumps = [
      new OutputPump(stdout.reader, (chunk) => io.onOutput('stdout', chunk)),
      new OutputPump(stderr.reader, (chunk) => io.onOutput('stderr', chunk)),
    ]
    const kill = graceAfter(signal)
    try {
      const end = await this.#spawn(prepared, [stdout, stderr], signal)
      // What is left of a killed command may still write, as long as the grace lasts.
      for (const pump of pumps) pump.ended(kill.msLeft())
      await Promise.all(pumps.map((pump) => pump.finished))
      return end
    } finally {
      kill.forget()
      for (const pump of pumps) pump.ended()
      for (const { reader } of [stdout, stderr]) reader.destroy()
    }
  }

  async #openPipes(): Promise<[Pipe, Pipe]> {
    try {
      return await Promise.all([this.#fifos.open(), this.#fifos.open()])
    } catch (error) {
      if (await isDiskFull(this.#folder)) throw noSpace(this.#machine)
      throw new CommandError(`no pipes for the output can be made on ${this.#machine}: ${(error as Error).message}`)
    }
  }

  async #spawn(prepared: PreparedCommand, [stdout, stderr]: [Pipe, Pipe], signal: AbortSignal): Promise<CommandEnd> {
    const child = await start(prepared, stdout, stderr, signal)
    const group = child.pid as number
    const exited = new Promise<CommandEnd>((resolve) => {
      child.once('exit', (exitCode, name) => resolve({ exitCode, signal: name, confirmed: true }))
    })
    await this.#watchdog.guard(group)
    const abort = whenAborted(signal)
    try {
      ;(child.stdio[3] as NodeJS.WritableStream).end(prepared.go)
      const first = await Promise.race([exited, abort.promise])
      return first === 'aborted' ? await this.#killGroup(group, graceOf(signal), exited) : first
    } finally {
      abort.forget()
      void this.#endLeftovers(group).finally(() => this.#watchdog.release(group))
    }
  }

  /** TERM to the group; KILL when the grace is over and some of it is left. */
  async #killGroup(group: number, graceMs: number, exited: Promise<CommandEnd>): Promise<CommandEnd> {
    await this.#signal(group, 'SIGTERM')
    // A child of the command may need the time that the command itself does not.
    if (!(await groupEnds(group, graceMs))) await this.#signal(group, 'SIGKILL')
    const unconfirmed = delay(CONFIRM_MS, { exitCode: null, signal: null, confirmed: false }, { ref: false })
    return Promise.race([exited, unconfirmed])
  }

  /**
   * What a command leaves running in its group ends with it; a daemon has a session of its own. One that was started by
   * the command's last line gets a moment to make itself that session.
   */
  async #endLeftovers(group: number): Promise<void> {
    if (!(await groupEnds(group, DETACH_MS))) await this.#signal(group, 'SIGKILL')
  }

  #signal(group: number, signal: NodeJS.Signals): Promise<void> {
    return signalGroup(group, signal, this.#user?.processes)
  }
}

/** How much of the grace is left after an abort; 0 without one. */
function graceAfter(signal: AbortSignal): { msLeft(): number; forget(): void } {
  let until = 0
  const killed = () => {
    until = performance.now() + graceOf(signal)
  }
  if (signal.aborted) killed()
  else signal.addEventListener('abort', killed, { once: true })
  return {
    msLeft: () => Math.max(0, until - performance.now()),
    forget: () => signal.removeEventListener('abort', killed),
  }
}

async function start(
  { program, args, cwd, env }: PreparedCommand,
  stdout: Pipe,
  stderr: Pipe,
  signal: AbortSignal,
): Promise<ChildProcess> {
  try {
    signal.throwIfAborted()
    const child = spawn(program, args, {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', stdout.writer, stderr.writer, 'pipe'],
    })
    child.stdio[3]?.on('error', () => {})
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject))
    return child
  } catch (error) {
    if (signal.aborted) throw error
    throw new CommandError(startProblem(error as NodeJS.ErrnoException))
  } finally {
    await Promise.all([stdout.closeWriter(), stderr.closeWriter()])
  }
}

function startProblem(error: NodeJS.ErrnoException): string {
  if (error.code === 'E2BIG') return TOO_LARGE
  return `the command could not start (${error.code ?? error.message})`
}
