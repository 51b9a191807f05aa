import { execFile, spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { SYSTEM_PATH } from './workspace.ts'

const execute = promisify(execFile)

const SHELL = '/bin/sh'
/** The limit of the output that is kept of a helper process. */
const MAX_TEXT = 4_096

/** Local commands cannot run as the configured user. The message ends a sentence for users. */
export class LocalUserError extends Error {
  override name = 'LocalUserError'
}

export interface Finished {
  exitCode: number | null
  stdout: string
  stderr: string
}

interface Credentials {
  uid: number
  gid: number
  /** Whether the process gets the supplementary groups of the user database, or none. */
  ownGroups: boolean
}

/**
 * Runs processes as another user. It uses setpriv and not the `uid` option of spawn. That option drops the supplementary groups
 * and keeps ambient capabilities, with which a command could become root.
 */
export class UserProcesses {
  readonly #setpriv: string
  readonly #options: readonly string[]

  constructor(setpriv: string, { uid, gid, ownGroups }: Credentials) {
    this.#setpriv = setpriv
    this.#options = [
      `--reuid=${uid}`,
      `--regid=${gid}`,
      ownGroups ? '--init-groups' : '--clear-groups',
      '--inh-caps=-all',
      '--ambient-caps=-all',
    ]
  }

  /** The program and arguments that run shell code as the user. */
  shellCall(script: string, args: readonly string[]): [program: string, ...args: string[]] {
    return [this.#setpriv, ...this.#options, SHELL, '-c', script, 'sh', ...args]
  }

  /** A prefix of shell words that runs the next words as the user. No word has a blank or a quote. */
  get shellPrefix(): string {
    return [this.#setpriv, ...this.#options].join(' ')
  }

  /**
   * Runs shell code as the user, with `input` on standard input. The environment is empty: a variable such as LD_PRELOAD would
   * affect setpriv, which still has the permissions of this process.
   */
  async run(
    script: string,
    args: readonly string[] = [],
    input: string | AsyncIterable<Buffer> = '',
  ): Promise<Finished> {
    const [program, ...rest] = this.shellCall(script, args)
    // A new session prevents access to the terminal of this process.
    const child = spawn(program, rest, { cwd: '/', env: {}, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
    const texts = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (text: string) => {
        if (texts[stream].length < MAX_TEXT) texts[stream] += text
      })
    }
    // A helper that ends early closes its input. Its exit code gives the reason.
    child.stdin.on('error', () => {})
    const ended = new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject))
    ended.catch(() => {})
    try {
      for await (const piece of typeof input === 'string' ? [input] : input) {
        if (child.stdin.destroyed) break
        if (!child.stdin.write(piece)) await drained(child.stdin)
      }
    } finally {
      child.stdin.end()
      // Wait also after an input error: files can be deleted only when the process has ended.
      await ended.catch(() => {})
    }
    return { exitCode: await ended, ...texts }
  }
}

/** Resolves when the stream accepts more data or is closed. */
function drained(stream: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done)
      resolve()
    }
    stream.on('drain', done).on('close', done)
  })
}

/** The user of local commands. */
export class LocalUser {
  readonly name: string
  readonly uid: number
  readonly home: string
  readonly processes: UserProcesses
  readonly #setpriv: string

  private constructor(
    setpriv: string,
    { name, uid, gid, home }: { name: string; uid: number; gid: number; home: string },
  ) {
    this.name = name
    this.uid = uid
    this.home = home
    this.#setpriv = setpriv
    this.processes = new UserProcesses(setpriv, { uid, gid, ownGroups: true })
  }

  /**
   * Finds a user by name or number, and tries to become that user.
   * @throws LocalUserError
   */
  static async find(nameOrUid: string): Promise<LocalUser> {
    const entry = await passwordEntry(nameOrUid)
    if (entry === null) {
      throw new LocalUserError(
        `names the user "${nameOrUid}", which does not exist on this machine: create the user first`,
      )
    }
    if (entry.uid === 0 || entry.uid === process.getuid?.()) {
      throw new LocalUserError(
        `names the user "${entry.name}", ${entry.uid === 0 ? 'which has all permissions' : 'the user of the instance'}: ` +
          'create a separate user for local commands',
      )
    }
    const setpriv = await findSystemProgram('setpriv')
    if (setpriv === null) throw new LocalUserError('needs the program setpriv: install the package util-linux')
    const user = new LocalUser(setpriv, entry)
    const { exitCode, stdout, stderr } = await user.processes.run('id -u')
    if (exitCode !== 0 || stdout.trim() !== String(entry.uid)) {
      throw new LocalUserError(
        `names the user "${entry.name}", and the instance may not change its user: run it as root or with ` +
          `CAP_SETUID and CAP_SETGID (${stderr.trim() || `exit code ${exitCode}`})`,
      )
    }
    return user
  }

  /** Runs processes of any user, to delete files from an earlier setting. */
  processesOf(uid: number, gid: number): UserProcesses {
    return uid === this.uid ? this.processes : new UserProcesses(this.#setpriv, { uid, gid, ownGroups: false })
  }
}

/** Uses getent and not /etc/passwd, because users may come from a directory service. */
async function passwordEntry(nameOrUid: string) {
  const line = await execute('getent', ['passwd', '--', nameOrUid]).then(
    ({ stdout }) => stdout.trim(),
    (error: { code?: unknown }) => {
      // getent exits with 2 if there is no such entry.
      if (error.code === 2) return ''
      throw new LocalUserError(`cannot be looked up: getent failed (${String(error.code)})`)
    },
  )
  const [name, , uid, gid, , home] = line.split(':')
  if (!name) return null
  return { name, uid: Number(uid), gid: Number(gid), home: home || '/' }
}

async function findSystemProgram(name: string): Promise<string | null> {
  for (const folder of SYSTEM_PATH.split(':')) {
    const file = path.join(folder, name)
    const found = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (found) return file
  }
  return null
}
