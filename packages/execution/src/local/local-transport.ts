import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  CONFIRM_MS,
  type Command,
  type CommandEnd,
  CommandError,
  type CommandIo,
  graceOf,
  INTERPRETER_CALLS,
  type Transport,
  whenAborted,
} from '../command.ts'
import { Lifeline } from '../lifeline.ts'
import { OutputPump } from '../output-pump.ts'
import { Fifos, type Pipe } from './fifos.ts'
import { findInterpreter } from './interpreters.ts'
import { type LocalLimits, limitCommands } from './limits.ts'
import { placeFiles } from './place-files.ts'
import { groupEnds, signalGroup } from './process-group.ts'
import { Watchdog } from './watchdog.ts'

/** Waits until the watchdog knows the group. End of file instead of a word: its parent is dead, nothing may start. */
const GATE = 'read -r go <&3 || exit 125; exec 3<&-; exec "$@"'
const DETACH_MS = 300
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** It does not matter here which try of which step it is: nothing comes twice. */
export type LocalCommand = Omit<Command, 'identity'>

export interface LocalOptions {
  /** Commands live no longer; unless given, as long as this process. */
  lifeline?: Lifeline
  /** What errors call this machine. */
  machine?: string
  limits?: LocalLimits
}

/** Runs commands on the machine of its own process, each in a process group and a fresh directory of its own. */
export class LocalTransport implements Transport {
  readonly #folder: string
  readonly #machine: string
  readonly #gate: string
  readonly #fifos: Fifos
  readonly #watchdog: Watchdog

  /** `folder` holds the commands' directories; it exists. */
  constructor(folder: string, { lifeline = new Lifeline(), machine = 'the instance', limits }: LocalOptions = {}) {
    this.#folder = folder
    this.#gate = `${limitCommands(limits)}; ${GATE}`
    this.#machine = machine
    this.#watchdog = new Watchdog(lifeline)
    this.#fifos = new Fifos(folder)
  }

  async run(command: LocalCommand, io: CommandIo, signal: AbortSignal): Promise<CommandEnd> {
    const environment = environmentOf(command)
    const interpreter = await findInterpreter(command.interpreter, environment['PATH'] ?? DEFAULT_PATH, this.#machine)
    const directory = await mkdtemp(path.join(this.#folder, 'command-'))
    try {
      const workingDirectory = await prepareWorkingDirectory(directory, command.workingDirectory, this.#machine)
      await placeFiles(command.files, workingDirectory, this.#machine, signal)
      const { file, args } = INTERPRETER_CALLS[command.interpreter]
      const script = path.join(directory, file)
      await writeFile(script, command.script, { mode: 0o700 })
      const call = ['-c', this.#gate, 'sh', interpreter, ...args.map((arg) => (arg === '{}' ? script : arg))]
      return await this.#runIn(workingDirectory, call, environment, io, signal)
    } finally {
      await rm(directory, { recursive: true, force: true, maxRetries: 2 }).catch(() => {})
    }
  }

  /** Targets share one such transport: nothing is held for a single one. */
  close(): void {}

  /** The process ends: the watchdog kills what is left. */
  shutDown(): void {
    this.#watchdog.close()
  }

  async #runIn(
    cwd: string,
    call: string[],
    env: Record<string, string>,
    io: CommandIo,
    signal: AbortSignal,
  ): Promise<CommandEnd> {
    const [stdout, stderr] = await Promise.all([this.#fifos.open(), this.#fifos.open()])
    const pumps = [
      new OutputPump(stdout.reader, (chunk) => io.onOutput('stdout', chunk)),
      new OutputPump(stderr.reader, (chunk) => io.onOutput('stderr', chunk)),
    ]
    try {
      const end = await this.#spawn(cwd, call, env, [stdout, stderr], signal)
      for (const pump of pumps) pump.ended()
      await Promise.all(pumps.map((pump) => pump.finished))
      return end
    } finally {
      for (const pump of pumps) pump.ended()
      for (const { reader } of [stdout, stderr]) reader.destroy()
    }
  }

  async #spawn(
    cwd: string,
    call: string[],
    env: Record<string, string>,
    [stdout, stderr]: [Pipe, Pipe],
    signal: AbortSignal,
  ): Promise<CommandEnd> {
    const child = await start(cwd, call, env, stdout, stderr, signal)
    const group = child.pid as number
    const exited = new Promise<CommandEnd>((resolve) => {
      child.once('exit', (exitCode, name) => resolve({ exitCode, signal: name, confirmed: true }))
    })
    await this.#watchdog.guard(group)
    const abort = whenAborted(signal)
    try {
      ;(child.stdio[3] as NodeJS.WritableStream).end('go\n')
      const first = await Promise.race([exited, abort.promise])
      return first === 'aborted' ? await killGroup(group, graceOf(signal), exited) : first
    } finally {
      abort.forget()
      void endLeftovers(group).finally(() => this.#watchdog.release(group))
    }
  }
}

function environmentOf(command: LocalCommand): Record<string, string> {
  return {
    // Nothing else of this process's own environment: it holds its credentials.
    PATH: process.env['PATH'] || DEFAULT_PATH,
    HOME: home(),
    LANG: process.env['LANG'] || 'C.UTF-8',
    ...command.environment,
  }
}

/** A container may run as a number that is in no list of users; its engine says where home is then. */
function home(): string {
  try {
    return os.userInfo().homedir
  } catch {
    return process.env['HOME'] || '/'
  }
}

async function prepareWorkingDirectory(directory: string, wanted: string | null, machine: string): Promise<string> {
  const cwd = path.resolve(directory, 'work', wanted ?? '.')
  if (wanted === null || !path.isAbsolute(wanted)) {
    await mkdir(cwd, { recursive: true })
    return cwd
  }
  const isDirectory = await stat(cwd).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isDirectory) throw new CommandError(`the working directory ${wanted} does not exist on ${machine}`)
  return cwd
}

async function start(
  cwd: string,
  call: string[],
  env: Record<string, string>,
  stdout: Pipe,
  stderr: Pipe,
  signal: AbortSignal,
): Promise<ChildProcess> {
  try {
    signal.throwIfAborted()
    const child = spawn('/bin/sh', call, {
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
  if (error.code === 'E2BIG') return 'the command could not start: its variables are too large for an environment'
  return `the command could not start (${error.code ?? error.message})`
}

/** TERM to the group; KILL when the grace is over and some of it is left. */
async function killGroup(group: number, graceMs: number, exited: Promise<CommandEnd>): Promise<CommandEnd> {
  signalGroup(group, 'SIGTERM')
  // A child of the command may need the time that the command itself does not.
  if (!(await groupEnds(group, graceMs))) signalGroup(group, 'SIGKILL')
  const unconfirmed = delay(CONFIRM_MS, { exitCode: null, signal: null, confirmed: false }, { ref: false })
  return Promise.race([exited, unconfirmed])
}

/**
 * What a command leaves running in its group ends with it; a daemon has a session of its own. One that was started by
 * the command's last line gets a moment to make itself that session.
 */
async function endLeftovers(group: number): Promise<void> {
  if (!(await groupEnds(group, DETACH_MS))) signalGroup(group, 'SIGKILL')
}
