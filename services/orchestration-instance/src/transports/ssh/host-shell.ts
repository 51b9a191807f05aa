import { randomBytes } from 'node:crypto'
import { CONFIRM_MS, type CommandEnd, type CommandIo, graceOf, type Lifeline, whenAborted } from '@slipway/commands'
import { TIMED_OUT, withTimeout } from '@slipway/runtime'
import type { Client, ClientChannel } from 'ssh2'
import { ChannelReader } from './channel-reader.ts'
import { echoOf, MAX_REQUEST, programOf, type Request, SHELL_COMMAND } from './host-script.ts'
import { SshOutput } from './ssh-output.ts'

/** How long a kill waits for a command that is about to start. */
const START_MS = 1_000
/** An older shell is checked before use: a lost connection shows only when something is sent. */
const FRESH_MS = 100
/** A shared abort reason. Creating the default reason (with its stack) costs more CPU time than the rest of a command. */
const OVER = new Error('the command is over')

export interface Outcome {
  /** Null if the host did not report the end. */
  end: CommandEnd | null
  hasBegun: boolean
  /** The reported reason why the host did not start the command. */
  problem: string | null
  /** Other output of the host, if it did not start the command. */
  said: string
  /** Exit code of a shell that ended unexpectedly; null while the shell runs or if its exit code is not known. */
  shellExit: number | null
}

/**
 * A shell on a host that runs one command after another. host-script.ts describes the protocol of its channel.
 *
 *     new ──program and first command sent──▶ starting ──the command starts──▶ busy ──the command ends──▶ idle ──run──▶ busy
 *     new, starting: the shell reads its program;  busy, idle (`#readsControlLines`): it reads control lines
 *     busy ──aborted──▶ ending: `end`, then `kill` after the grace; without a confirmation the channel is closed
 *     last:   the shell reported that it cannot run another command
 *     closed: the channel is closed or lost
 */
export class HostShell {
  readonly #channel: ClientChannel
  readonly #lifeline: Lifeline | undefined
  readonly #stopRenewing: () => void
  readonly #exit: ChannelExit
  readonly #reader: ChannelReader
  #readsControlLines = false
  #heardAt = 0
  #isLast = false
  /** The time at which the host will kill commands, by performance.now(). */
  #killsAt = Number.POSITIVE_INFINITY

  private constructor(channel: ClientChannel, lifeline: Lifeline | undefined) {
    this.#channel = channel
    this.#lifeline = lifeline
    this.#exit = new ChannelExit(channel)
    this.#reader = new ChannelReader({ stdout: channel, stderr: channel.stderr })
    const stopRenewing = lifeline?.onRenewed(() => {
      if (this.#readsControlLines) this.#sayLive()
    })
    this.#stopRenewing = stopRenewing ?? (() => {})
    channel.once('close', this.#stopRenewing)
  }

  /** Throws when the host refuses a channel. */
  static async open(client: Client, lifeline?: Lifeline): Promise<HostShell> {
    return new HostShell(await openChannel(client, SHELL_COMMAND), lifeline)
  }

  get isOpen(): boolean {
    return !this.#exit.isKnown && !this.#isLast
  }

  close(): void {
    this.#stopRenewing()
    this.#exit.isKnown = true
    this.#channel.close()
  }

  /** Asks the shell for an answer, unless it has answered just before. */
  async isAlive(): Promise<boolean> {
    if (!this.isOpen || performance.now() - this.#heardAt < FRESH_MS) return this.isOpen
    const mark = `slipway-${randomBytes(16).toString('hex')}`
    let heard = ''
    const answer = new Promise<void>((resolve) => {
      this.#reader.sink = (_stream, chunk) => {
        heard = `${heard}${chunk}`.slice(-4_096)
        if (heard.includes(mark)) resolve()
      }
    })
    this.#say(`run ${echoOf(mark)}`)
    await Promise.race([answer, this.#exit.known])
    return this.isOpen
  }

  /** Whether the request needs a new shell. */
  isTooLong({ text }: Request): boolean {
    return this.#readsControlLines && text.length > MAX_REQUEST
  }

  /** `send` copies the files to a folder of the host. Throws the error of `send`, or the signal's reason. */
  async run(
    request: Request,
    io: CommandIo,
    signal: AbortSignal,
    send: (folder: string, signal: AbortSignal) => Promise<void>,
  ): Promise<Outcome> {
    signal.throwIfAborted()
    const output = new SshOutput(this.#reader, request.mark, io)
    const abort = whenAborted(signal)
    const over = new AbortController()
    try {
      this.#ask(request)
      void output.begun.then(() => {
        this.#readsControlLines = true
      })
      const notSent = new Promise<never>((_resolve, reject) => {
        const answer = async (folder: string) => {
          if (over.signal.aborted) return
          await send(folder, over.signal)
          this.#say('run :')
        }
        output.asked.then(answer).catch(reject)
      })
      const first = await Promise.race([output.over, this.#exit.known, abort.promise, notSent])
      if (first === 'aborted') await this.#kill(output, graceOf(signal))
    } catch (error) {
      // At the end of its input the shell deletes its folder.
      this.close()
      throw error
    } finally {
      over.abort(OVER)
      abort.forget()
    }
    await output.finish()
    this.#readsControlLines = true
    this.#heardAt = performance.now()
    const { end: exit } = this.#exit
    // Without setsid, KILL also ends the shell. Then only the ssh server reports the end.
    const killed = signal.aborted && exit ? { exitCode: null, signal: exit.signal, confirmed: true } : null
    const end = endOf(output.ending) ?? killed
    this.#isLast = output.ending?.endsWith(' last') ?? false
    const { hasBegun, problem, preamble: said } = output
    return { end, hasBegun, problem, said, shellExit: exit?.exitCode ?? null }
  }

  #ask(request: Request): void {
    if (this.#readsControlLines) {
      // The kill time of the previous command must not apply to this command.
      if (performance.now() >= this.#killsAt) this.#sayLive()
      this.#say(`run ${request.text}`)
      return
    }
    const secondsLeft = this.#lifeline?.secondsLeft ?? null
    this.#noteKillTime(secondsLeft)
    this.#channel.write(programOf(request, secondsLeft))
  }

  #sayLive(): void {
    const secondsLeft = this.#lifeline?.secondsLeft ?? null
    if (secondsLeft === null) return
    this.#noteKillTime(secondsLeft)
    this.#say(`live ${secondsLeft}`)
  }

  #noteKillTime(secondsLeft: number | null): void {
    if (secondsLeft !== null) this.#killsAt = performance.now() + secondsLeft * 1_000
  }

  #say(line: string): void {
    if (this.isOpen) this.#channel.write(`${line}\n`)
  }

  /** Ends the command. Closes the shell if the shell does not confirm the end. */
  async #kill(output: SshOutput, graceMs: number): Promise<void> {
    const known = this.#exit.known
    const isOver = async (ms: number) => (await withTimeout(ms, Promise.race([output.over, known]))) !== TIMED_OUT
    await withTimeout(START_MS, Promise.race([output.begun, output.over, known]))
    // A command that has not started needs no grace.
    if (output.hasBegun) {
      this.#say('end')
      if (await isOver(graceMs)) return
      this.#say('kill')
      if (await isOver(CONFIRM_MS)) return
      // A slow sink may hold back the closing line.
      output.discard()
      if (await isOver(CONFIRM_MS)) return
    }
    this.close()
    await withTimeout(CONFIRM_MS, known)
  }
}

function endOf(ending: string | null): CommandEnd | null {
  const [, status, signal, left] =
    /^(\d{1,3})(?: (?:SIG)?([A-Z0-9+-]+))?(?: left (\d+|\?))?(?: last)?$/.exec(ending ?? '') ?? []
  if (status === undefined) return null
  const leftovers = left === undefined ? {} : { leftovers: left === '?' ? null : Number(left) }
  return signal === undefined
    ? { exitCode: Number(status), signal: null, confirmed: true, ...leftovers }
    : { exitCode: null, signal: `SIG${signal}`, confirmed: true, ...leftovers }
}

/** The exit of a shell, as far as the ssh server reports it. */
class ChannelExit {
  /** Null until the server reports the exit. */
  end: CommandEnd | null = null
  isKnown = false
  /** Resolves when the shell has ended or the channel is closed. */
  readonly known: Promise<'known'>

  constructor(channel: ClientChannel) {
    channel.on('error', () => {})
    this.known = new Promise((resolve) => {
      const isKnown = () => {
        this.isKnown = true
        resolve('known')
      }
      channel.once('exit', (exitCode: number | null, signal?: string) => {
        this.end = { exitCode, signal: signal ?? null, confirmed: true }
        isKnown()
      })
      channel.once('close', isKnown)
    })
  }
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
