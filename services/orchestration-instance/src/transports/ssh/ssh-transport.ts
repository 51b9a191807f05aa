import {
  type Command,
  type CommandEnd,
  CommandError,
  type CommandIo,
  FileError,
  type Lifeline,
  type Transport,
  whenAborted,
} from '@slipway/execution'
import { endpointOf, plain } from '../words.ts'
import type { Connection, SshConnections } from './connections.ts'
import { KnownHostKey } from './host-key.ts'
import { type FileProblem, type Request, requestOf } from './host-script.ts'
import { HostShell, type Outcome } from './host-shell.ts'
import { sendFiles } from './send-files.ts'
import type { SshAddress } from './ssh-errors.ts'

const IDLE_MS = 20_000

export interface SshTransportOptions {
  address: SshAddress
  connections: SshConnections
  /** The longest life of commands; without it, they live as long as the connection. */
  lifeline?: Lifeline
  /** The first host key of the target. From now on it must stay the same. */
  onHostKey(hostKey: string): void
  /** The host answered. */
  onSeen(): void
}

interface Place {
  connection: Connection
  shell: HostShell
}
/** The shell comes with the first command. */
type KeptPlace = Pick<Place, 'connection'> & Partial<Place>

/** Runs commands on one host over a connection, and in a shell, that are kept for the next one. */
export class SshTransport implements Transport {
  readonly #options: SshTransportOptions
  #known: KnownHostKey | null
  #kept: KeptPlace | null = null
  #idle: NodeJS.Timeout | undefined
  /** The connection that is opened in advance, or its error. */
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
    const place = await this.#placeFor(request, signal)
    const { connection, shell } = place
    this.#options.onSeen()
    try {
      const endpoint = endpointOf(this.#options.address)
      const outcome = await shell.run(request, io, signal, (folder, over) =>
        sendFiles(connection.client, endpoint, folder, command.files, over),
      )
      return this.#judge(outcome, command, signal, connection)
    } finally {
      this.#keep(place)
    }
  }

  close(): void {
    this.#closed = true
    this.#letGo()
  }

  #letGo(): void {
    clearTimeout(this.#idle)
    if (this.#kept) this.#options.connections.end(this.#kept.connection)
    this.#kept = null
  }

  /** Throws the error of the connection that the command waited for. */
  async #whenPrepared(signal: AbortSignal): Promise<void> {
    if (!this.#prepared) return
    const aborted = whenAborted(signal)
    const error = await Promise.race([this.#prepared, aborted.promise.then(() => signal.reason)])
    aborted.forget()
    if (error) throw error
  }

  #judge(outcome: Outcome, command: Command, signal: AbortSignal, connection: Connection): CommandEnd {
    const { end, hasBegun } = outcome
    if (end && (hasBegun || signal.aborted)) return end
    if (!signal.aborted) {
      throw this.#fileProblem(outcome, command) ?? new CommandError(this.#problem(outcome, command))
    }
    // If the host is alive, this ends commands that may still run there.
    this.#options.connections.end(connection)
    return { exitCode: null, signal: null, confirmed: false }
  }

  #keep(place: KeptPlace): void {
    this.#letGo()
    if (!place.connection.isOpen) return
    this.#kept = place
    if (this.#closed) this.#letGo()
    else this.#idle = setTimeout(() => this.#letGo(), IDLE_MS).unref()
  }

  async #placeFor(request: Request, signal: AbortSignal): Promise<Place> {
    const kept = this.#kept
    this.#kept = null
    // The connection may have been lost while no command ran. Then a new connection is opened, and no command fails.
    const place = kept && (await this.#placeOver(kept, request, signal).catch(() => null))
    return place ?? this.#placeOver({ connection: await this.#connect(signal) }, request, signal)
  }

  /** Ends the connection when there can be no shell over it. */
  async #placeOver({ connection, shell }: KeptPlace, request: Request, signal: AbortSignal): Promise<Place> {
    const end = () => this.#options.connections.end(connection)
    // This ends every wait on the connection.
    signal.addEventListener('abort', end, { once: true })
    try {
      if (shell && !shell.isTooLong(request) && (await shell.answers())) return { connection, shell }
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
      throw new CommandError(`${endpoint} refuses to run commands: ${(error as Error).message}`)
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

  #fileProblem({ problem: told }: Outcome, { files }: Command): FileError | null {
    const [, index, problem] = /^file (\d+) (\w+)$/.exec(told ?? '') ?? []
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

  #problem({ said, problem, hasBegun, shellExit }: Outcome, command: Command): string {
    const endpoint = endpointOf(this.#options.address)
    if (hasBegun) return `connection to ${endpoint} was lost while the command ran`
    if (problem === 'interpreter') return `the interpreter ${command.interpreter} was not found on ${endpoint}`
    if (problem === 'working-directory') {
      return `the working directory ${command.workingDirectory} does not exist on ${endpoint}`
    }
    if (problem === 'directory') return `no directory for the command can be made on ${endpoint}`
    if (shellExit === null) return `connection to ${endpoint} was lost before the command started`
    const { username } = this.#options.address
    const words = plain(said).slice(-200)
    return `${endpoint} started no shell for ${username} (exit code ${shellExit})${words && `: ${words}`}`
  }
}
