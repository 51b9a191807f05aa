import { stat } from 'node:fs/promises'
import {
  AGENT_OUTPUT_LIMIT,
  AgentAccepted,
  type AgentCommand,
  type AgentCommandEnd,
  AgentRefusal,
  compile,
} from '@slipway/contracts'
import {
  CONFIRM_MS,
  type Command,
  type CommandEnd,
  CommandError,
  type CommandIdentity,
  type CommandIo,
  FileError,
  graceOf,
  KILL_GRACE_MS,
  type Transport,
} from '@slipway/execution'
import { fullJitter, SLIPWAY_VERSION, sleep, type Turnstile } from '@slipway/runtime'
import { plain } from '../words.ts'
import { readFrames } from './frames.ts'
import { type AgentAddress, AgentLink, type LinkAnswer, LinkError } from './link.ts'
import { agentOn, linkProblem } from './words.ts'

const SMALL_ANSWER = 256 * 1024
/** How long a start is tried of which the agent may or may not have heard. */
const START_MS = 30_000
/** Content can go from an agent's disk again while other content comes. */
const START_ROUNDS = 3
/** How often an agent is told that somebody is there, where it does not want to hear so more often. */
const TOUCH_MS = 10_000
const MIN_TOUCH_MS = 1_000
/** An agent that was away for longer than that has killed the command; it is given a moment to say so. */
const AFTER_ORPHANED_MS = 30_000
const RETRY = { baseMs: 250, capMs: 5_000 }

const isAccepted = compile(AgentAccepted)
const isRefusal = compile(AgentRefusal)

const NEVER_RAN: AgentCommandEnd = { exit_code: null, signal: null, confirmed: true, error: null, content: null }

class UnknownCommand extends CommandError {}

export interface AgentTransportOptions {
  targetName: string
  /** Null where no agent is enrolled. */
  address: AgentAddress | null
  /** Who takes a run over may have thousands of commands to end: this many agents are told at a time. */
  abandoning: Turnstile
  /** The agent answered. */
  onSeen(): void
}

/**
 * Runs commands through the agent on a target. The command and its output live there: when the link is lost they are
 * asked for until it is back. What the agent has handed over it is told by the next question, so nothing comes twice.
 */
export class AgentTransport implements Transport {
  readonly #options: AgentTransportOptions
  readonly #agent: string
  readonly #link: AgentLink | null
  #farewells: Promise<unknown> = Promise.resolve()

  constructor(options: AgentTransportOptions) {
    const { address, targetName } = options
    this.#options = options
    this.#agent = address ? agentOn(targetName, address) : `the agent on ${targetName}`
    this.#link = address && new AgentLink(address)
  }

  async run(command: Command, io: CommandIo, signal: AbortSignal): Promise<CommandEnd> {
    const link = this.#link
    if (!link) throw new CommandError(`no agent is enrolled for ${this.#options.targetName}`)
    const id = commandId(command.identity)
    const orphanedMs = await this.#start(link, id, command, signal)
    const end = await this.#follow(link, id, io, signal, orphanedMs)
    if (!end) return { exitCode: null, signal: null, confirmed: false }
    this.#sayFarewell(link, id)
    if (end.error !== null && !signal.aborted) {
      const text = plain(end.error)
      throw end.content === null ? new CommandError(text) : new FileError(text, end.content)
    }
    return { exitCode: end.exit_code, signal: end.signal, confirmed: end.confirmed }
  }

  /** Where the agent cannot be reached, it ends the command by itself when nobody has asked about it for a while. */
  abandon(identity: CommandIdentity): void {
    const link = this.#link
    if (!link) return
    const told = this.#options.abandoning.pass(() =>
      this.#end(link, commandId(identity), KILL_GRACE_MS, AbortSignal.timeout(CONFIRM_MS)),
    )
    this.#farewells = Promise.all([this.#farewells, told])
  }

  close(): void {
    void this.#farewells.then(() => this.#link?.close())
  }

  /** Resolves with how long the agent keeps a command that nobody asks about. */
  async #start(link: AgentLink, id: string, command: Command, signal: AbortSignal): Promise<number> {
    const body = JSON.stringify(bodyOf(command))
    const until = performance.now() + START_MS
    let maybeStarted = false
    let rounds = 0
    for (let attempt = 1; ; attempt += 1) {
      // It is not known to run, but it may.
      if (signal.aborted && maybeStarted) return 0
      signal.throwIfAborted()
      try {
        const answer = await link.call({ method: 'PUT', path: `/v1/commands/${id}`, body, limit: SMALL_ANSWER, signal })
        this.#options.onSeen()
        if (answer.status < 300) return this.#acceptedOf(answer)
        const missing = this.#refusalOf(answer).missing ?? []
        rounds += 1
        if (missing.length === 0 || rounds > START_ROUNDS) throw this.#refused(answer)
        for (const content of missing) await this.#send(link, content, command, signal)
      } catch (error) {
        if (!(error instanceof LinkError)) throw error
        maybeStarted ||= error.sent
        if (signal.aborted) continue
        const isFinal = error.code === 'ANSWER' || (error.code ?? '').startsWith('ERR_SSL') || error.code === 'EPROTO'
        if (isFinal || !maybeStarted || performance.now() > until) {
          throw new CommandError(linkProblem(this.#agent, error))
        }
        await sleep(fullJitter(attempt, RETRY), signal)
      }
    }
  }

  async #send(link: AgentLink, content: string, { files }: Command, signal: AbortSignal): Promise<void> {
    const file = files.find((each) => each.content === content)
    if (!file)
      throw new CommandError(`${this.#agent} gave a wrong answer: it asks for other content than the command has`)
    const { size } = await stat(file.source)
    const path = `/v1/content/${content}`
    try {
      const answer = await link.call({
        method: 'PUT',
        path,
        body: { file: file.source, size },
        limit: SMALL_ANSWER,
        signal,
      })
      if (answer.status >= 300) {
        throw new FileError(`the file ${file.path} was not taken: ${this.#refused(answer).message}`, content)
      }
    } catch (error) {
      if (!(error instanceof LinkError) || signal.aborted) throw error
      throw new FileError(`the file ${file.path} could not be sent: ${linkProblem(this.#agent, error)}`, content)
    }
  }

  /** Hands the output on until the end comes; null when it was killed and that is all that is known. */
  async #follow(
    link: AgentLink,
    id: string,
    io: CommandIo,
    signal: AbortSignal,
    orphanedMs: number,
  ): Promise<AgentCommandEnd | null> {
    // After a kill the agent has so long to tell of the end.
    const over = new AbortController()
    let timer: NodeJS.Timeout | undefined
    const kill = () => {
      const graceMs = graceOf(signal)
      timer = setTimeout(() => over.abort(), graceMs + CONFIRM_MS)
      void this.#end(link, id, graceMs, over.signal)
    }
    if (signal.aborted) kill()
    else signal.addEventListener('abort', kill, { once: true })
    // While nobody takes the output there are no other questions.
    const touching = setInterval(
      () => {
        void link
          .call({ method: 'GET', path: `/v1/commands/${id}`, limit: SMALL_ANSWER, signal: over.signal })
          .catch(() => {})
      },
      Math.max(MIN_TOUCH_MS, Math.min(TOUCH_MS, orphanedMs / 3)),
    )
    try {
      return await this.#fetchOutput(link, id, io, over.signal, orphanedMs)
    } catch (error) {
      if (!signal.aborted) throw error
      // Where the agent does not know it, it does not run.
      return error instanceof UnknownCommand ? NEVER_RAN : null
    } finally {
      clearInterval(touching)
      clearTimeout(timer)
      over.abort()
      signal.removeEventListener('abort', kill)
    }
  }

  async #fetchOutput(
    link: AgentLink,
    id: string,
    io: CommandIo,
    over: AbortSignal,
    orphanedMs: number,
  ): Promise<AgentCommandEnd> {
    let offset = 0
    let lostAt: number | null = null
    for (let failures = 0; ; ) {
      try {
        const path = `/v1/commands/${id}/output?from=${offset}`
        const answer = await link.call({ method: 'GET', path, limit: AGENT_OUTPUT_LIMIT, signal: over })
        this.#options.onSeen()
        failures = 0
        lostAt = null
        if (answer.status !== 200) throw this.#lostTrack(answer)
        const { frames, length } = this.#framesOf(answer.body)
        offset += length
        for (const frame of frames) {
          if (frame.kind === 'end') return frame.end
          await io.onOutput(frame.kind, frame.content)
        }
      } catch (error) {
        if (!(error instanceof LinkError) || over.aborted) throw error
        if (error.code === 'ANSWER') throw new CommandError(linkProblem(this.#agent, error))
        lostAt ??= performance.now()
        failures += 1
        const lostMs = performance.now() - lostAt
        if (lostMs > orphanedMs + AFTER_ORPHANED_MS) {
          const seconds = Math.round(lostMs / 1_000)
          throw new CommandError(
            `the link to ${this.#agent} was lost while the command ran and did not come back within ${seconds} s`,
          )
        }
        await sleep(fullJitter(failures, RETRY), over)
      }
    }
  }

  /** Tells the agent until it has heard it. */
  async #end(link: AgentLink, id: string, graceMs: number, over: AbortSignal): Promise<void> {
    const body = JSON.stringify({ grace_ms: graceMs })
    for (let attempt = 1; !over.aborted; attempt += 1) {
      const answer = await link
        .call({ method: 'POST', path: `/v1/commands/${id}/end`, body, limit: SMALL_ANSWER, signal: over })
        .catch(() => null)
      if (answer) return
      await sleep(fullJitter(attempt, RETRY), over)
    }
  }

  /** What the agent keeps of the command can go. Where that does not reach it, it goes by itself some time. */
  #sayFarewell(link: AgentLink, id: string): void {
    const said = link
      .call({
        method: 'DELETE',
        path: `/v1/commands/${id}`,
        limit: SMALL_ANSWER,
        signal: AbortSignal.timeout(CONFIRM_MS),
      })
      .catch(() => {})
    this.#farewells = Promise.all([this.#farewells, said])
  }

  #framesOf(bytes: Buffer): ReturnType<typeof readFrames> {
    try {
      return readFrames(bytes)
    } catch (error) {
      throw this.#wrong((error as Error).message)
    }
  }

  #acceptedOf({ body }: LinkAnswer): number {
    const accepted = parse(body)
    const [problem] = isAccepted(accepted)
    if (problem) throw this.#wrong(`${problem.path} ${problem.message}`)
    return (accepted as AgentAccepted).orphaned_after_seconds * 1_000
  }

  #refusalOf({ body, status }: LinkAnswer): AgentRefusal['error'] {
    const refusal = parse(body)
    if (isRefusal(refusal).length > 0) throw this.#wrong(`status ${status}`)
    return (refusal as AgentRefusal).error
  }

  #refused(answer: LinkAnswer): CommandError {
    return new CommandError(`${this.#agent} refuses it: ${plain(this.#refusalOf(answer).message)}`)
  }

  #lostTrack(answer: LinkAnswer): CommandError {
    const { code } = this.#refusalOf(answer)
    if (code !== 'NOT_FOUND') return this.#refused(answer)
    return new UnknownCommand(`${this.#agent} no longer knows the command: its disk was emptied, or it was forgotten`)
  }

  #wrong(what: string): CommandError {
    return new CommandError(`${this.#agent} gave a wrong answer: ${plain(what).slice(0, 200)}`)
  }
}

/** See AGENT_COMMAND_ID. */
function commandId({ deploymentId, epoch, target, action, attempt, rollback }: CommandIdentity): string {
  return [deploymentId.toLowerCase(), epoch, target, action, attempt, ...(rollback ? ['rollback'] : [])].join('.')
}

function bodyOf(command: Command): AgentCommand {
  return {
    version: SLIPWAY_VERSION,
    script: command.script,
    interpreter: command.interpreter,
    environment: { ...command.environment },
    working_directory: command.workingDirectory,
    files: command.files.map(({ content, path, mode }) => ({ content, path, mode })),
    timeout_seconds: command.timeoutSeconds ?? null,
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return null
  }
}
