import {
  type Command,
  type CommandEnd,
  CommandError,
  type CommandIo,
  FileError,
  type Lifeline,
  type Transport,
  whenAborted,
} from '@slipway/commands'
import { endpointOf, plain } from '../network.ts'
import type { Connection, SshConnections } from './connections.ts'
import { KnownHostKey } from './host-key.ts'
import { type FileProblem, type Request, requestOf } from './host-script.ts'
import { HostShell, type Outcome } from './host-shell.ts'
import { sendFiles } from './send-files.ts'
import type { SshAddress } from './ssh-errors.ts'

const IDLE_MS = 20_000

interface SshTransportOptions {
  address: SshAddress
  connections: SshConnections
  /** Without a lifeline, commands may run as long as the connection exists. */
  lifeline?: Lifeline
  /** Called with the first host key of the target. From now on the target must show the same key. */
  onHostKey(hostKey: string): void
  /** Called when the host has answered. */
  onSeen(): void
}

interface OpenShell {
  connection: Connection
  shell: HostShell
}
/** The first command opens the shell. */
type KeptConnection = Pick<OpenShell, 'connection'> & Partial<OpenShell>

/** Runs commands on one host. Keeps the connection and the shell for the next command. */
export class SshTransport implements Transport {
  readonly #options: SshTransportOptions
  #known: KnownHostKey | null
  #kept: KeptConnection | null = null
  #idle: NodeJS.Timeout | undefined
  /** Resolves when the connection is open in advance, or with its error. */
  #prepared: Promise<unknown> | null = null
  #closed = false

  constructor(options: SshTransportOptions) {
    this.#options = options
    const { host_key } = options.address
    this.#known = host_key === undefined ? null : new KnownHostKey(host_key)
  }

  prepare(signal: AbortSignal): void {
    if (this.#kept || this.#prepared) return
    this.#prepared = this.#connect(signal, { ahead: true })
      .then(
        (connection) => this.#keep({ connection }),
        (error) => error,
      )
      .finally(() => {
        this.#prepared = null
      })
  }

  async run(command: Command, io: CommandIo, signal: AbortSignal): Promise<CommandEnd> {
    await this.#whenPrepared(signal)
    const request = requestOf(command)
    const open = await this.#shellFor(request, signal)
    const { connection, shell } = open
    this.#options.onSeen()
    try {
      const endpoint = endpointOf(this.#options.address)
      const outcome = await shell.run(request, io, signal, (folder, over) =>
        sendFiles(connection.client, endpoint, folder, command.files, over),
      )
      return this.#endOf(outcome, command, signal, connection)
    } finally {
      this.#keep(open)
    }
  }

  close(): void {
    this.#closed = true
    this.#closeKept()
  }

  #closeKept(): void {
    clearTimeout(this.#idle)
    if (this.#kept) this.#options.connections.end(this.#kept.connection)
    this.#kept = null
  }

  /** Throws the error of the connection that was opened in advance. */
  async #whenPrepared(signal: AbortSignal): Promise<void> {
    if (!this.#prepared) return
    const aborted = whenAborted(signal)
    const error = await Promise.race([this.#prepared, aborted.promise.then(() => signal.reason)])
    aborted.forget()
    if (error) throw error
  }

  #endOf(outcome: Outcome, command: Command, signal: AbortSignal, connection: Connection): CommandEnd {
    const { end, hasBegun } = outcome
    if (end && (hasBegun || signal.aborted)) return end
    if (!signal.aborted) {
      throw this.#fileProblem(outcome, command) ?? this.#errorOf(outcome, command)
    }
    // Closing the connection also ends a command that may still run on the host.
    this.#options.connections.end(connection)
    return { exitCode: null, signal: null, confirmed: false }
  }

  #keep(kept: KeptConnection): void {
    this.#closeKept()
    if (!kept.connection.isOpen) return
    this.#kept = kept
    if (this.#closed) this.#closeKept()
    else this.#idle = setTimeout(() => this.#closeKept(), IDLE_MS).unref()
  }

  async #shellFor(request: Request, signal: AbortSignal): Promise<OpenShell> {
    const kept = this.#kept
    this.#kept = null
    // An idle connection may be lost. Then a new connection opens, and the command does not fail.
    const open = kept && (await this.#shellOn(kept, request, signal).catch(() => null))
    return open ?? this.#shellOn({ connection: await this.#connect(signal) }, request, signal)
  }

  /** Closes the connection if it cannot have a shell. */
  async #shellOn({ connection, shell }: KeptConnection, request: Request, signal: AbortSignal): Promise<OpenShell> {
    const end = () => this.#options.connections.end(connection)
    // This ends every wait on the connection.
    signal.addEventListener('abort', end, { once: true })
    try {
      if (shell && !shell.isTooLong(request) && (await shell.isAlive())) return { connection, shell }
      shell?.close()
      return { connection, shell: await this.#openShell(connection) }
    } catch (error) {
      end()
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener('abort', end)
    }
  }

  async #openShell({ client }: Connection): Promise<HostShell> {
    try {
      return await HostShell.open(client, this.#options.lifeline)
    } catch (error) {
      const endpoint = endpointOf(this.#options.address)
      throw new CommandError(`${endpoint} refuses to run commands: ${(error as Error).message}`, 'target_shell')
    }
  }

  async #connect(signal: AbortSignal, options?: { ahead: boolean }): Promise<Connection> {
    const { address, connections, onHostKey } = this.#options
    const connection = await connections.connect(address, this.#known, signal, options)
    if (!this.#known && !this.#closed) {
      this.#known = new KnownHostKey(connection.hostKey)
      onHostKey(connection.hostKey)
    }
    return connection
  }

  #fileProblem({ problem: reported }: Outcome, { files }: Command): FileError | null {
    const [, index, problem] = /^file (\d+) (\w+)$/.exec(reported ?? '') ?? []
    const file = files[Number(index)]
    if (file === undefined) return null
    const endpoint = endpointOf(this.#options.address)
    const problems: Record<FileProblem, string> = {
      tool: `${endpoint} has neither sha256sum nor shasum nor openssl to verify files with`,
      damaged: `the file ${file.path} was damaged on its way to ${endpoint}`,
      place: `the file ${file.path} could not be put into the working directory on ${endpoint}`,
    }
    return new FileError(problems[problem as FileProblem], file.content)
  }

  #errorOf({ said, problem, hasBegun, shellExit }: Outcome, { interpreter, workingDirectory }: Command): CommandError {
    const endpoint = endpointOf(this.#options.address)
    const lost = (when: string) =>
      new CommandError(`connection to ${endpoint} was lost ${when}`, 'target_connection_lost')
    if (hasBegun) return lost('while the command ran')
    if (problem === 'interpreter') {
      const message = `the interpreter ${interpreter} was not found on ${endpoint}`
      return new CommandError(message, 'interpreter_missing', interpreter)
    }
    if (problem === 'working-directory') {
      const message = `the working directory ${workingDirectory} does not exist on ${endpoint}`
      return new CommandError(message, 'working_directory_missing', workingDirectory)
    }
    if (problem === 'directory') {
      return new CommandError(`no directory for the command can be made on ${endpoint}`, 'target_shell')
    }
    if (shellExit === null) return lost('before the command started')
    const { username } = this.#options.address
    const words = plain(said).slice(-200)
    const message = `${endpoint} started no shell for ${username} (exit code ${shellExit})${words && `: ${words}`}`
    return new CommandError(message, 'target_shell')
  }
}
