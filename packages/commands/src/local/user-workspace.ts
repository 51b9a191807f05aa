import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, lstat, mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { CommandError, type CommandFile, FileError, INTERPRETER_CALLS, shellQuoted } from '../command.ts'
import { type LocalUser, LocalUserError } from './local-user.ts'
import {
  COMMAND_UMASK,
  environmentOf,
  interpreterMissing,
  isDiskFull,
  type LocalCommand,
  noSpace,
  type PreparedCommand,
  SYSTEM_PATH,
  TOO_LARGE,
  type Workspace,
} from './workspace.ts'

/** Every user may create and enter folders here. Only the owner of this folder can list them, and each user deletes only its own. */
const FOLDER_MODE = 0o1733
/** The longest `NAME=value` that Linux allows. */
const MAX_VARIABLE_BYTES = 131_071
const NO_SUCH_DIRECTORY = 3

/**
 * Reads the variables of the command from descriptor 3, and then executes the command. The text must end with a mark. Without
 * the mark the instance died while it wrote the text, and the command must not start.
 */
const GATE = `settings=$(cat <&3)
exec 3<&-
case $settings in *'#go') ;; *) exit 125 ;; esac
cd -P -- "$1" || exit 126
shift
unset OLDPWD
eval "$settings"
unset settings
${COMMAND_UMASK}
exec "$@"`

/**
 * $1 directory, $2 working directory, $3 script file, $4 and $5 name and text of a further file, possibly empty. The script is
 * on standard input.
 */
const MAKE = `umask 077
mkdir -- "$1" || exit 1
cat >"$3" && chmod 700 "$3" || exit 1
[ -z "$4" ] || printf %s "$5" >"$1/$4" || exit 1
case $2 in
  "$1"/*) ${COMMAND_UMASK} && mkdir -p -- "$2" ;;
  *) cd -- "$2" || exit ${NO_SUCH_DIRECTORY} ;;
esac`

/** $1 draft, $2 permissions; the content is on standard input. */
const WRITE_DRAFT = `${COMMAND_UMASK}
mkdir -p -- "\${1%/*}" && umask 077 && cat >"$1" && chmod "$2" "$1"`

/** $1 draft, $2 place. */
const PUT_INTO_PLACE = '[ ! -d "$2" ] && mv -f -- "$1" "$2"'

/** A command may have removed permissions of its own folders. */
const REMOVE = 'rm -rf -- "$1" || { chmod -R u+rwx -- "$1"; rm -rf -- "$1"; }'

/** $1 program, $2 search path. */
const FIND_PROGRAM = `set -f
IFS=:
for folder in $2; do
  case $folder in /*) [ -f "$folder/$1" ] && [ -x "$folder/$1" ] && echo "$folder/$1" && exit ;; esac
done
exit 1`

/**
 * Prepares commands that run as another user. Only processes of that user change the folders of commands. Otherwise a command
 * could create a link there, and this process, possibly root, would write or delete at the target of the link.
 */
export class UserWorkspace implements Workspace {
  readonly #folder: string
  readonly #machine: string
  readonly #gate: string
  readonly #interpreters = new Map<string, string>()
  readonly user: LocalUser

  private constructor(folder: string, user: LocalUser, machine: string, limits: string) {
    this.#folder = folder
    this.user = user
    this.#machine = machine
    this.#gate = `${limits}\n${GATE}`
  }

  /**
   * Creates the folder, and deletes the directories of earlier commands.
   * @throws LocalUserError if the user cannot enter the folder, or the folder has another owner
   */
  static async open(folder: string, user: LocalUser, machine: string, limits: string): Promise<UserWorkspace> {
    await mkdir(folder, { recursive: true })
    const found = await lstat(folder)
    // Another owner could replace the files of the instance in the folder.
    if (!found.isDirectory() || found.uid !== process.getuid?.()) {
      throw new LocalUserError(
        `the folder ${folder} does not belong to the instance: delete it, or name another folder`,
      )
    }
    await chmod(folder, FOLDER_MODE)
    await removeLeftovers(folder, user)
    const probe = path.join(folder, directoryName())
    const { exitCode, stderr } = await user.processes.run('mkdir -- "$1" && cd -- "$1" && rmdir -- "$1"', [probe])
    // On a full disk the probe fails, and commands wait for space later.
    if (exitCode !== 0 && !(await isDiskFull(folder))) {
      throw new LocalUserError(
        `the user ${user.name} cannot use the folder ${folder} (${stderr.trim()}): make the folders above it ` +
          'accessible (chmod o+x), or name another folder',
      )
    }
    return new UserWorkspace(folder, user, machine, limits)
  }

  async prepare(command: LocalCommand, signal: AbortSignal): Promise<PreparedCommand> {
    const environment = environmentOf(command, { home: this.user.home, searchPath: SYSTEM_PATH })
    const exports = exportsOf(environment)
    const interpreter = await this.#findInterpreter(command.interpreter, environment.PATH)
    const directory = path.join(this.#folder, directoryName())
    const { file, args } = INTERPRETER_CALLS[command.interpreter]
    const script = path.join(directory, file)
    const cwd = path.resolve(directory, 'work', command.workingDirectory ?? '.')
    const remove = async () => {
      await this.user.processes.run(REMOVE, [directory]).catch(() => {})
    }
    try {
      signal.throwIfAborted()
      await this.#make(directory, cwd, script, command)
      for (const each of command.files) await this.#place(each, cwd, signal)
    } catch (error) {
      await remove()
      throw error
    }
    const call = [cwd, interpreter, ...args.map((arg) => (arg === '{}' ? script : arg))]
    const [program, ...rest] = this.user.processes.shellCall(this.#gate, call)
    // The variables of the command take effect only after the change of the user.
    return { program, args: rest, cwd: '/', env: {}, go: `${exports}\n#go`, remove }
  }

  async #make(directory: string, cwd: string, script: string, command: LocalCommand): Promise<void> {
    const { beside = { name: '', text: '' } } = INTERPRETER_CALLS[command.interpreter]
    const args = [directory, cwd, script, beside.name, beside.text]
    const { exitCode, stderr } = await this.user.processes.run(MAKE, args, command.script)
    if (exitCode === 0) return
    if (exitCode === NO_SUCH_DIRECTORY) {
      throw new CommandError(
        `the working directory ${command.workingDirectory} does not exist on ${this.#machine}, or the user ` +
          `${this.user.name} may not enter it`,
        'working_directory_missing',
        command.workingDirectory,
      )
    }
    if (await isDiskFull(this.#folder)) throw noSpace(this.#machine)
    const message = `no directory for the command can be made on ${this.#machine}: ${reasonOf(stderr)}`
    throw new CommandError(message, 'target_shell')
  }

  /** The file appears at its path as a whole or not at all. */
  async #place(file: CommandFile, directory: string, signal: AbortSignal): Promise<void> {
    const place = path.join(directory, file.path)
    const draft = path.join(path.dirname(place), `.slipway-${randomBytes(12).toString('hex')}`)
    const { processes } = this.user
    const hash = createHash('sha256')
    const failed = (reason: string) =>
      new FileError(`the file ${file.path} could not be put into the working directory (${reason})`, file.content)
    try {
      const written = await processes.run(WRITE_DRAFT, [draft, file.mode], hashed(file.source, hash, signal))
      if (written.exitCode !== 0) {
        if (directory.startsWith(this.#folder) && (await isDiskFull(this.#folder))) throw noSpace(this.#machine)
        throw failed(reasonOf(written.stderr))
      }
      if (hash.digest('hex') !== file.content) {
        throw new FileError(`the file ${file.path} was damaged on the disk of ${this.#machine}`, file.content)
      }
      const placed = await processes.run(PUT_INTO_PLACE, [draft, place])
      if (placed.exitCode !== 0) throw failed(reasonOf(placed.stderr) || 'its place is a folder')
    } catch (error) {
      await processes.run('rm -f -- "$1"', [draft]).catch(() => {})
      if (signal.aborted || error instanceof CommandError) throw error
      const { code, message } = error as NodeJS.ErrnoException
      throw failed(code ?? message)
    }
  }

  /** Searches as the user, because the user may have fewer permissions than this process. */
  async #findInterpreter(interpreter: string, searchPath: string): Promise<string> {
    const key = `${interpreter}\n${searchPath}`
    const known = this.#interpreters.get(key)
    if (known !== undefined) return known
    const { exitCode, stdout } = await this.user.processes.run(FIND_PROGRAM, [interpreter, searchPath])
    if (exitCode !== 0) throw interpreterMissing(interpreter, this.#machine, searchPath)
    const found = stdout.trimEnd()
    this.#interpreters.set(key, found)
    return found
  }
}

const directoryName = () => `command-${randomBytes(12).toString('hex')}`
const reasonOf = (stderr: string) => stderr.trim().split('\n').at(-1) ?? ''

/** Shell code that sets the variables. Throws CommandError if a variable is too long for Linux. */
function exportsOf(environment: Readonly<Record<string, string>>): string {
  const lines = Object.entries(environment).map(([name, value]) => {
    if (Buffer.byteLength(value) + name.length + 1 > MAX_VARIABLE_BYTES) throw new CommandError(TOO_LARGE)
    return `export ${name}=${shellQuoted(value)}`
  })
  return lines.join('\n')
}

async function* hashed(file: string, hash: ReturnType<typeof createHash>, signal: AbortSignal): AsyncGenerator<Buffer> {
  for await (const piece of createReadStream(file, { highWaterMark: 1024 * 1024, signal })) {
    hash.update(piece as Buffer)
    yield piece as Buffer
  }
}

/** Deletes each directory as its owner. The owner may be another user from an earlier setting. */
async function removeLeftovers(folder: string, user: LocalUser): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith('command-')) continue
    const left = path.join(folder, name)
    const { uid, gid } = await lstat(left)
    if (uid === process.getuid?.()) await rm(left, { recursive: true, force: true })
    else await user.processesOf(uid, gid).run(REMOVE, [left])
  }
}
