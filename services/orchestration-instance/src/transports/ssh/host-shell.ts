import { randomBytes } from 'node:crypto'
import { CONFIRM_MS, type CommandEnd, type CommandIo, graceOf, type Lifeline, whenAborted } from '@slipway/execution'
import type { Client, ClientChannel } from 'ssh2'
import { ChannelReader } from './channel-reader.ts'
import { echoOf, MAX_REQUEST, programOf, type Request, SHELL_COMMAND } from './host-script.ts'
import { type ChannelReaders, SshOutput } from './ssh-output.ts'

/** How long a kill waits for a command that is about to start. */
const START_MS = 1_000
/** After so long without a word the link may be gone, which nobody notices before something is sent. */
const FRESH_MS = 100
/** Given, for the one that is made otherwise costs more than the rest of a command. */
const OVER = new Error('the command is over')

/** What became of a command. */
export interface Outcome {
  /** Null where the host did not say how it ended. */
  end: CommandEnd | null
  hasBegun: boolean
  /** Why the host did not start it, as far as it said so. */
  problem: string | null
  /** What else the host said instead of running it. */
  said: string
  /** Exit code of the shell itself, which should not have ended; null while it lives, or when nothing is known. */
  shellExit: number | null
}

/**
 * A shell on a host that runs one command after the other. See host-script.ts for what is said over its channel.
 *
 *     new ──program and first command sent──▶ starting ──the command begins──▶ busy ──its end is told──▶ idle ──run──▶ busy
 *     new, starting: what is sent is read as its program;  busy, idle (`#listens`): as control lines
 *     busy ──aborted──▶ ending: `end`, after the grace `kill`; a shell that confirms neither is closed
 *     last:   the shell said that it can run nothing more; it is not given another command
 *     closed: the channel is gone, or was closed; what the server said of its exit is all that is known
 */
export class HostShell {
  readonly #channel: ClientChannel
  readonly #lifeline: Lifeline | undefined
  readonly #stopRenewing: () => void
  readonly #exit: ChannelExit
  readonly #readers: ChannelReaders
  /** Reads its control line; before, whatever is sent belongs to its program. */
  #listens = false
  #heardAt = 0
  #isLast = false
  /** Until when commands live as the host knows it, by performance.now(). */
  #toldUntil = Number.POSITIVE_INFINITY

  private constructor(channel: ClientChannel, lifeline: Lifeline | undefined) {
    this.#channel = channel
    this.#lifeline = lifeline
    this.#exit = new ChannelExit(channel)
    this.#readers = { stdout: new ChannelReader(channel), stderr: new ChannelReader(channel.stderr) }
    const stopRenewing = lifeline?.onRenewed(() => {
      if (this.#listens) this.#sayLive()
    })
    this.#stopRenewing = stopRenewing ?? (() => {})
    channel.once('close', this.#stopRenewing)
  }

  /** Throws when the host opens no channel. */
  static async open(client: Client, lifeline?: Lifeline): Promise<HostShell> {
    return new HostShell(await openChannel(client, SHELL_COMMAND), lifeline)
  }

  /** False once it can run nothing more. */
  get isOpen(): boolean {
    return !this.#exit.isKnown && !this.#isLast
  }

  close(): void {
    this.#stopRenewing()
    this.#exit.isKnown = true
    this.#channel.close()
  }

  /** Whether it is still there for another command. */
  async answers(): Promise<boolean> {
    if (!this.isOpen || performance.now() - this.#heardAt < FRESH_MS) return this.isOpen
    const mark = `slipway-${randomBytes(16).toString('hex')}`
    let heard = ''
    const answer = new Promise<void>((resolve) => {
      this.#readers.stdout.sink = (chunk) => {
        heard = `${heard}${chunk}`.slice(-4_096)
        if (heard.includes(mark)) resolve()
      }
    })
    this.#say(`run ${echoOf(mark)}`)
    await Promise.race([answer, this.#exit.known])
    return this.isOpen
  }

  /** Whether it is better sent to a new shell. */
  isTooLong({ text }: Request): boolean {
    return this.#listens && text.length > MAX_REQUEST
  }

  /** `send` brings the content of files to a folder of the host. Throws what it throws, or the signal's reason. */
  async run(
    request: Request,
    io: CommandIo,
    signal: AbortSignal,
    send: (folder: string, signal: AbortSignal) => Promise<void>,
  ): Promise<Outcome> {
    signal.throwIfAborted()
    const output = new SshOutput(this.#readers, request.mark, io)
    const abort = whenAborted(signal)
    const over = new AbortController()
    try {
      this.#ask(request)
      void output.begun.then(() => {
        this.#listens = true
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
      // At the end of its input the shell clears away what it has made.
      this.close()
      throw error
    } finally {
      over.abort(OVER)
      abort.forget()
    }
    await output.finish()
    this.#listens = true
    this.#heardAt = performance.now()
    const { end: exit } = this.#exit
    // Where there is no setsid, a KILL ends the shell as well, and the server alone can say so.
    const killed = signal.aborted && exit ? { exitCode: null, signal: exit.signal, confirmed: true } : null
    const end = endOf(output.ending) ?? killed
    this.#isLast = output.ending?.endsWith(' last') ?? false
    const { hasBegun, problem, preamble: said } = output
    return { end, hasBegun, problem, said, shellExit: exit?.exitCode ?? null }
  }

  #ask(request: Request): void {
    if (this.#listens) {
      // What told the host to kill at that time must not kill this one.
      if (performance.now() >= this.#toldUntil) this.#sayLive()
      this.#say(`run ${request.text}`)
      return
    }
    const secondsLeft = this.#lifeline?.secondsLeft ?? null
    this.#noteTold(secondsLeft)
    this.#channel.write(programOf(request, secondsLeft))
  }

  #sayLive(): void {
    const secondsLeft = this.#lifeline?.secondsLeft ?? null
    if (secondsLeft === null) return
    this.#noteTold(secondsLeft)
    this.#say(`live ${secondsLeft}`)
  }

  #noteTold(secondsLeft: number | null): void {
    if (secondsLeft !== null) this.#toldUntil = performance.now() + secondsLeft * 1_000
  }

  #say(line: string): void {
    if (this.isOpen) this.#channel.write(`${line}\n`)
  }

  /** Ends the command, or with it the shell when it does not say that the command is gone. */
  async #kill(output: SshOutput, graceMs: number): Promise<void> {
    const known = this.#exit.known
    const isOver = (ms: number) => within(ms, Promise.race([output.over, known]))
    await within(START_MS, Promise.race([output.begun, output.over, known]))
    // Where the command has not started, nothing needs time to end.
    if (output.hasBegun) {
      this.#say('end')
      if (await isOver(graceMs)) return
      this.#say('kill')
      if (await isOver(CONFIRM_MS)) return
      // What takes the output may be slow, and the last word stands behind it.
      output.discard()
      if (await isOver(CONFIRM_MS)) return
    }
    this.close()
    await within(CONFIRM_MS, known)
  }
}

function endOf(ending: string | null): CommandEnd | null {
  const [, status, signal] = /^(\d{1,3})(?: (?:SIG)?([A-Z0-9+-]+))?(?: last)?$/.exec(ending ?? '') ?? []
  if (status === undefined) return null
  return signal === undefined
    ? { exitCode: Number(status), signal: null, confirmed: true }
    : { exitCode: null, signal: `SIG${signal}`, confirmed: true }
}

/** What becomes known of a shell's end. */
class ChannelExit {
  /** Null until the server said how it ended. */
  end: CommandEnd | null = null
  isKnown = false
  /** It ended, or nothing more can be heard of it. */
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
