import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { CommandError, FileError, INTERPRETER_CALLS, isNoSpace } from '../command.ts'
import { findInterpreter } from './interpreters.ts'
import { makeFolders, placeFiles } from './place-files.ts'
import {
  COMMAND_UMASK,
  environmentOf,
  type LocalCommand,
  noSpace,
  type PreparedCommand,
  type Workspace,
} from './workspace.ts'

/** Waits until the watchdog knows the group. End of file means that the instance has died, so the command must not start. */
const GATE = `${COMMAND_UMASK}; read -r go <&3 || exit 125; exec 3<&-; exec "$@"`

/** Prepares commands that run as the user of this process. */
export class OwnWorkspace implements Workspace {
  readonly #folder: string
  readonly #machine: string
  readonly #searchPath: string
  readonly #gate: string

  constructor(folder: string, machine: string, searchPath: string, limits: string) {
    this.#folder = folder
    this.#machine = machine
    this.#searchPath = searchPath
    this.#gate = `${limits}; ${GATE}`
  }

  async prepare(command: LocalCommand, signal: AbortSignal): Promise<PreparedCommand> {
    const env = environmentOf(command, { home: home(), searchPath: this.#searchPath })
    const interpreter = await findInterpreter(command.interpreter, env.PATH, this.#machine)
    const directory = await mkdtemp(path.join(this.#folder, 'command-')).catch((error) => {
      throw isNoSpace(error) ? noSpace(this.#machine) : error
    })
    const remove = () => rm(directory, { recursive: true, force: true, maxRetries: 2 }).catch(() => {})
    try {
      const cwd = await makeWorkingDirectory(directory, command.workingDirectory, this.#machine)
      await placeFiles(command.files, cwd, this.#machine, signal)
      const { file, args, beside } = INTERPRETER_CALLS[command.interpreter]
      const script = path.join(directory, file)
      if (beside) await writeFile(path.join(directory, beside.name), beside.text)
      await writeFile(script, command.script, { mode: 0o700 })
      const call = [interpreter, ...args.map((arg) => (arg === '{}' ? script : arg))]
      return { program: '/bin/sh', args: ['-c', this.#gate, 'sh', ...call], cwd, env, go: 'go\n', remove }
    } catch (error) {
      await remove()
      throw this.#isOwnDiskFull(error, command) ? noSpace(this.#machine) : error
    }
  }

  /** Whether the disk of the directories of commands is full, and not the disk of an absolute working directory. */
  #isOwnDiskFull(error: unknown, { workingDirectory }: LocalCommand): boolean {
    if (!(error instanceof FileError)) return isNoSpace(error)
    return isNoSpace(error.cause) && (workingDirectory === null || !path.isAbsolute(workingDirectory))
  }
}

/** A container may run with a uid that is not in the user database. Then HOME comes from the container engine. */
function home(): string {
  try {
    return os.userInfo().homedir
  } catch {
    return process.env['HOME'] || '/'
  }
}

async function makeWorkingDirectory(directory: string, requested: string | null, machine: string): Promise<string> {
  const cwd = path.resolve(directory, 'work', requested ?? '.')
  if (requested === null || !path.isAbsolute(requested)) {
    await makeFolders(cwd)
    return cwd
  }
  const isDirectory = await stat(cwd).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (isDirectory) return cwd
  const message = `the working directory ${requested} does not exist on ${machine}`
  throw new CommandError(message, 'working_directory_missing', requested)
}
