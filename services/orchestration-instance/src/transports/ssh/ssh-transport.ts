import {
  CONFIRM_MS,
  type Command,
  type CommandEnd,
  CommandError,
  type CommandFile,
  type CommandIo,
  FileError,
  graceOf,
  type Lifeline,
  type Transport,
  whenAborted,
} from '@slipway/execution'
import type { Client, ClientChannel } from 'ssh2'
import { endpointOf, plain } from '../words.ts'
import { BOOTSTRAP_COMMANDS, type Bootstrap, bootstrapOf, type FileProblem } from './bootstrap.ts'
import type { Connection, SshConnections } from './connections.ts'
import { KnownHostKey } from './host-key.ts'
import { sendFiles } from './send-files.ts'
import type { SshAddress } from './ssh-errors.ts'
import { SshOutput } from './ssh-output.ts'

const IDLE_MS = 20_000
/** How long a kill waits for a command that is about to start. */
const START_MS = 1_000

export interface SshTransportOptions {
  address: SshAddress
  connections: SshConnections
  /** Commands live no longer; unless given, as long as the link. */
  lifeline?: Lifeline
  /** The host's key where none was known: from now on it has to stay the same. */
  onHostKey(hostKey: string): void
  /** The host answered. */
  onSeen(): void
}

/** Runs commands on one host over a connection that is kept for the next one. */
export class SshTransport implements Transport {
  readonly #options: SshTransportOptions
  #known: KnownHostKey | null
  #kept: Connection | null = null
  #idle: NodeJS.Timeout | undefined
  #shell: keyof typeof BOOTSTRAP_COMMANDS = 'plain'

  constructor(options: SshTransportOptions) {
    this.#options = options
    const { host_key } = options.address
    this.#known = host_key === undefined ? null : new KnownHostKey(host_key)
  }

  async run(command: Command, io: CommandIo, signal: AbortSignal): Promise<CommandEnd> {
    const { connection, channel } = await this.#openChannel(signal)
    this.#options.onSeen()
    try {
      return await this.#runOn(connection, channel, command, io, signal)
    } finally {
      this.#keep(connection)
    }
  }

  close(): void {
    clearTimeout(this.#idle)
    if (this.#kept) this.#options.connections.end(this.#kept)
    this.#kept = null
  }

  #keep(connection: Connection): void {
    this.close()
    if (!connection.isOpen) return
    this.#kept = connection
    this.#idle = setTimeout(() => this.close(), IDLE_MS).unref()
  }

  async #openChannel(signal: AbortSignal): Promise<{ connection: Connection; channel: ClientChannel }> {
    const { connections } = this.#options
    const kept = this.#kept
    this.#kept = null
    if (kept) {
      // It may have been cut while nothing ran: then the host deserves a new connection, not a failure.
      const channel = await this.#openShell(kept).catch(() => null)
      if (channel) return { connection: kept, channel }
      connections.end(kept)
    }
    const connection = await this.#connect(signal)
    try {
      return { connection, channel: await this.#openShell(connection) }
    } catch (error) {
      connections.end(connection)
      throw error
    }
  }

  async #openShell({ client }: Connection): Promise<ClientChannel> {
    try {
      return await openChannel(client, BOOTSTRAP_COMMANDS[this.#shell])
    } catch (error) {
      const endpoint = endpointOf(this.#options.address)
      throw new CommandError(`${endpoint} refuses to run commands: ${(error as Error).message}`)
    }
  }

  async #connect(signal: AbortSignal): Promise<Connection> {
    const { address, connections, onHostKey } = this.#options
    const connection = await connections.connect(address, this.#known, signal)
    if (!this.#known) {
      this.#known = new KnownHostKey(connection.hostKey)
      onHostKey(connection.hostKey)
    }
    return connection
  }

  async #runOn(
    connection: Connection,
    channel: ClientChannel,
    command: Command,
    io: CommandIo,
    signal: AbortSignal,
  ): Promise<CommandEnd> {
    const { lifeline } = this.#options
    const bootstrap = bootstrapOf(command, lifeline?.secondsLeft ?? null)
    const output = new SshOutput(channel, bootstrap, io)
    const exit = new ChannelExit(channel)
    const abort = whenAborted(signal)
    const over = new AbortController()
    const stopRenewing = lifeline?.onRenewed(() => {
      // Before, the shell that reads the bootstrap would swallow it.
      if (output.hasBegun) channel.write(`live ${lifeline.secondsLeft}\n`)
    })
    try {
      channel.write(bootstrap.input)
      const notSent = this.#sendFiles(connection, channel, output, command.files, over.signal)
      const first = await Promise.race([exit.known, abort.promise, notSent])
      if (first === 'aborted') await this.#kill(connection, channel, output, exit, graceOf(signal))
      // OpenSSH has ended the control line by now; other servers leave that to us.
      else channel.write('over\n')
    } catch (error) {
      // At the end of its input the shell clears away what it has made.
      channel.close()
      throw error
    } finally {
      over.abort()
      stopRenewing?.()
      abort.forget()
      output.ended()
    }
    await output.finished
    channel.close()
    if (exit.end && (output.hasBegun || signal.aborted)) return exit.end
    if (signal.aborted) return { exitCode: null, signal: null, confirmed: false }
    if (this.#shell === 'plain' && output.preamble.includes(`${bootstrap.failed} group`)) {
      this.#shell = 'ownGroup'
      return this.#runOn(connection, await this.#openShell(connection), command, io, signal)
    }
    throw (
      this.#fileProblem(output, bootstrap, command) ?? new CommandError(this.#problem(output, bootstrap, exit, command))
    )
  }

  /** Sends the content of files once the host asks for it. Only a failure ends the promise. */
  #sendFiles(
    { client }: Connection,
    channel: ClientChannel,
    output: SshOutput,
    files: readonly CommandFile[],
    signal: AbortSignal,
  ): Promise<never> {
    return new Promise((_resolve, reject) => {
      const send = async (folder: string) => {
        if (signal.aborted) return
        await sendFiles(client, endpointOf(this.#options.address), folder, files, signal)
        channel.write('sent\n')
      }
      if (files.length > 0) void output.asked.then(send).catch(reject)
    })
  }

  /** Asks the guard to end the command. Without an answer the connection goes, which ends it too if the host lives. */
  async #kill(
    connection: Connection,
    channel: ClientChannel,
    output: SshOutput,
    exit: ChannelExit,
    graceMs: number,
  ): Promise<void> {
    await within(START_MS, Promise.race([output.begun, exit.known]))
    // Where the command has not started, nothing needs time to end.
    if (output.hasBegun) channel.write(`end ${Math.ceil(graceMs / 1000)}\n`)
    else channel.close()
    await within(graceMs + CONFIRM_MS, Promise.race([output.finished, exit.closed]))
    // The guard's last word and the server's come from two processes, in any order.
    await within(CONFIRM_MS, exit.known)
    if (!exit.end) this.#options.connections.end(connection)
  }

  #fileProblem({ preamble }: SshOutput, { failed }: Bootstrap, { files }: Command): FileError | null {
    const [, index, problem] = new RegExp(`^${failed} file (\\d+) (\\w+)$`, 'm').exec(preamble) ?? []
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

  #problem({ preamble, hasBegun }: SshOutput, { failed }: Bootstrap, exit: ChannelExit, command: Command): string {
    const endpoint = endpointOf(this.#options.address)
    if (preamble.includes(`${failed} interpreter`)) {
      return `the interpreter ${command.interpreter} was not found on ${endpoint}`
    }
    if (preamble.includes(`${failed} working-directory`)) {
      return `the working directory ${command.workingDirectory} does not exist on ${endpoint}`
    }
    if (preamble.includes(`${failed} directory`)) return `no directory for the command can be made on ${endpoint}`
    if (hasBegun) return `connection to ${endpoint} was lost while the command ran`
    if (!exit.end) return `connection to ${endpoint} was lost before the command started`
    const said = plain(preamble).slice(-200)
    const { username } = this.#options.address
    return `${endpoint} started no shell for ${username} (exit code ${exit.end.exitCode})${said && `: ${said}`}`
  }
}

/** What becomes known of a command's end. */
class ChannelExit {
  /** Null until the server said how the command ended. */
  end: CommandEnd | null = null
  /** The command ended, or nothing more can be heard of it. */
  readonly known: Promise<'known'>
  readonly closed: Promise<'closed'>

  constructor(channel: ClientChannel) {
    channel.on('error', () => {})
    this.closed = new Promise((resolve) => channel.once('close', () => resolve('closed')))
    const exited = new Promise<void>((resolve) => {
      channel.once('exit', (exitCode: number | null, signal?: string) => {
        this.end = { exitCode, signal: signal ?? null, confirmed: true }
        resolve()
      })
    })
    this.known = Promise.race([exited, this.closed]).then(() => 'known')
  }
}

/** The promise's value, or null when that takes longer. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

function openChannel(client: Client, command: string): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    const onClose = () => reject(new Error('the connection was lost'))
    client.once('close', onClose)
    client.exec(command, (error, channel) => {
      client.off('close', onClose)
      if (error) reject(error)
      else resolve(channel)
    })
  })
}
