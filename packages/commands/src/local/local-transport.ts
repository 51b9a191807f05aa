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
import { Fifos, type Pipe } from './fifos.ts'
import type { LocalUser } from './local-user.ts'
import { OwnWorkspace } from './own-workspace.ts'
import { countRunning, groupEnds, signalGroup } from './process-group.ts'
import { UserWorkspace } from './user-workspace.ts'
import { Watchdog } from './watchdog.ts'
import {
  isDiskFull,
  type LocalCommand,
  noSpace,
  type PreparedCommand,
  SYSTEM_PATH,
  TOO_LARGE,
  type Workspace,
} from './workspace.ts'

/** The limits of each process of a command; 0 for no own limit. */
export interface LocalLimits {
  /** Address space. */
  memoryMib: number
  openFiles: number
  /** The size of one written file. */
  fileMib: number
}

const NONE: LocalLimits = { memoryMib: 0, openFiles: 0, fileMib: 0 }
const BLOCKS_PER_MIB = 2_048

/** Shell commands that set the limits. Core dumps are off, because they would hold the secrets of the command. */
function limitCommands({ memoryMib, openFiles, fileMib }: LocalLimits = NONE): string {
  return [
    'ulimit -c 0',
    ...(memoryMib > 0 ? [`ulimit -v ${memoryMib * 1_024}`] : []),
    ...(openFiles > 0 ? [`ulimit -n ${openFiles}`] : []),
    ...(fileMib > 0 ? [`ulimit -f ${fileMib * BLOCKS_PER_MIB}`] : []),
  ].join('; ')
}

/** How long a daemon may take to move to its own session after the end of its command. */
const DETACH_MS = 300

interface LocalOptions {
  /** The time until which commands may run. By default, commands may run as long as this process. */
  lifeline?: Lifeline
  /** The name of this machine in errors. */
  machine?: string
  limits?: LocalLimits
  /** The PATH of commands. The default is that of the system: a program of this process is none of the machine. */
  searchPath?: string
}

interface LocalUserOptions extends LocalOptions {
  user: LocalUser
  /** The folder for the directories of commands. The user must be able to enter it. */
  userFolder: string
}

/** Runs commands on this machine, each in its own process group and a new directory. */
export class LocalTransport implements Transport {
  readonly #folder: string
  readonly #machine: string
  readonly #workspace: Workspace
  readonly #user: LocalUser | null
  readonly #fifos: Fifos
  readonly #watchdog: Watchdog

  /** Commands run as the user of this process. `folder` must exist. It holds pipes and directories of commands. */
  constructor(folder: string, options: LocalOptions = {}, asUser: UserWorkspace | null = null) {
    const { lifeline = new Lifeline(), machine = 'the instance', limits, searchPath = SYSTEM_PATH } = options
    this.#folder = folder
    this.#machine = machine
    this.#user = asUser?.user ?? null
    this.#workspace = asUser ?? new OwnWorkspace(folder, machine, searchPath, limitCommands(limits))
    this.#watchdog = new Watchdog(lifeline, this.#user?.processes)
    // A script that writes to /dev/stderr opens the pipe again as its own user.
    this.#fifos = new Fifos(folder, { othersMayWrite: asUser !== null })
  }

  /**
   * Commands run as another user. `folder` must exist, and only the user of this process may enter it. It holds pipes.
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

  /** All local targets share this transport, so a single target has nothing to close. */
  close(): void {}

  /** Stops the watchdog, which kills all remaining commands. */
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
      // Other processes of a killed command may write until the end of the grace.
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
      if (first === 'aborted') return await this.#killGroup(group, graceOf(signal), exited)
      const leftovers = await this.#endLeftovers(group)
      return leftovers === 0 ? first : { ...first, leftovers }
    } finally {
      abort.forget()
      void this.#endLeftovers(group).finally(() => this.#watchdog.release(group))
    }
  }

  /** Sends TERM to the group, and KILL after the grace if a process of the group still runs. */
  async #killGroup(group: number, graceMs: number, exited: Promise<CommandEnd>): Promise<CommandEnd> {
    await this.#signal(group, 'SIGTERM')
    // Wait for the whole group: a child may need the grace even if the command ends at once.
    if (!(await groupEnds(group, graceMs))) await this.#signal(group, 'SIGKILL')
    const unconfirmed = delay(CONFIRM_MS, { exitCode: null, signal: null, confirmed: false }, { ref: false })
    return Promise.race([exited, unconfirmed])
  }

  /** Kills the remaining processes of the group, and returns their number. A daemon first gets time to move to its own session. */
  async #endLeftovers(group: number): Promise<number | null> {
    if (await groupEnds(group, DETACH_MS)) return 0
    const running = await countRunning(group)
    await this.#signal(group, 'SIGKILL')
    return running
  }

  #signal(group: number, signal: NodeJS.Signals): Promise<void> {
    return signalGroup(group, signal, this.#user?.processes)
  }
}

/** `msLeft` returns the rest of the grace after an abort; 0 without an abort. */
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
