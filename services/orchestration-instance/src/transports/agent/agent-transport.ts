import { stat } from 'node:fs/promises'
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
} from '@slipway/commands'
import {
  AGENT_OUTPUT_LIMIT,
  AgentAccepted,
  type AgentCommand,
  type AgentCommandEnd,
  AgentRefusal,
  compile,
} from '@slipway/contracts'
import { fullJitter, type Semaphore, SLIPWAY_VERSION, sleep } from '@slipway/runtime'
import { endpointOf, networkReason, plain } from '../network.ts'
import { readFrames } from './frames.ts'
import { type AgentAddress, AgentLink, type LinkAnswer, LinkError } from './link.ts'

const SMALL_ANSWER = 256 * 1024
/** How long a start is repeated after a lost answer. */
const START_MS = 30_000
/** How often missing content is sent: an agent may delete content while other content arrives. */
const START_ROUNDS = 3
/** The longest time between two calls of an agent, unless the agent needs more frequent calls. */
const TOUCH_MS = 10_000
const MIN_TOUCH_MS = 1_000
/** The time for the report of an agent that has killed an orphaned command. */
const AFTER_ORPHANED_MS = 30_000
const RETRY = { baseMs: 250, capMs: 5_000 }

const isAccepted = compile(AgentAccepted)
const isRefusal = compile(AgentRefusal)

const NEVER_RAN: AgentCommandEnd = { exit_code: null, signal: null, confirmed: true, error: null, content: null }

class UnknownCommand extends CommandError {}

export interface AgentTransportOptions {
  targetName: string
  /** Null if no agent is enrolled. */
  address: AgentAddress | null
  /** Limits concurrent `abandon` calls: an instance that takes over a run may have to end thousands of commands. */
  abandoning: Semaphore
  /** Called for each answer of the agent. */
  onSeen(): void
}

/**
 * Runs commands through the agent on a target. The agent stores the output. After a lost connection the instance asks for the
 * output until the agent answers. Each call names the offset of the next byte, so no byte arrives twice.
 */
export class AgentTransport implements Transport {
  readonly #options: AgentTransportOptions
  readonly #agent: string
  readonly #link: AgentLink | null
  /** Calls that must end before the link closes. */
  #lastCalls: Promise<unknown> = Promise.resolve()

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
    this.#forget(link, id)
    if (end.error !== null && !signal.aborted) {
      const text = plain(end.error)
      if (end.content !== null) throw new FileError(text, end.content)
      throw new CommandError(text, end.reason, end.subject === undefined ? null : plain(end.subject))
    }
    const left = end.leftovers === undefined ? {} : { leftovers: end.leftovers }
    return { exitCode: end.exit_code, signal: end.signal, confirmed: end.confirmed, ...left }
  }

  /** An agent that cannot be reached kills the command after some time without a call. */
  abandon(identity: CommandIdentity): void {
    const link = this.#link
    if (!link) return
    const ended = this.#options.abandoning.run(() =>
      this.#end(link, commandId(identity), KILL_GRACE_MS, AbortSignal.timeout(CONFIRM_MS)),
    )
    this.#lastCalls = Promise.all([this.#lastCalls, ended])
  }

  close(): void {
    void this.#lastCalls.then(() => this.#link?.close())
  }

  /** Resolves with the time after which the agent kills a command without calls. */
  async #start(link: AgentLink, id: string, command: Command, signal: AbortSignal): Promise<number> {
    const body = JSON.stringify(bodyOf(command))
    const until = performance.now() + START_MS
    let maybeStarted = false
    let rounds = 0
    for (let attempt = 1; ; attempt += 1) {
      // The command may run, so the caller has to end it.
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
          throw linkFailed(this.#agent, error)
        }
        await sleep(fullJitter(attempt, RETRY), signal)
      }
    }
  }

  async #send(link: AgentLink, content: string, { files }: Command, signal: AbortSignal): Promise<void> {
    const file = files.find((each) => each.content === content)
    if (!file)
      throw new CommandError(`${this.#agent} gave a wrong answer: it asks for content that the command does not have`)
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

  /** Passes on the output until the end of the command. Null if it was killed and its end is unknown. */
  async #follow(
    link: AgentLink,
    id: string,
    io: CommandIo,
    signal: AbortSignal,
    orphanedMs: number,
  ): Promise<AgentCommandEnd | null> {
    // Aborts when the agent has not reported the end in time after a kill.
    const over = new AbortController()
    let timer: NodeJS.Timeout | undefined
    const kill = () => {
      const graceMs = graceOf(signal)
      timer = setTimeout(() => over.abort(), graceMs + CONFIRM_MS)
      void this.#end(link, id, graceMs, over.signal)
    }
    if (signal.aborted) kill()
    else signal.addEventListener('abort', kill, { once: true })
    // Keeps the command alive on the agent while a full sink blocks the calls for output.
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
      // A command that the agent does not know does not run.
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
        if (answer.status !== 200) throw this.#outputProblem(answer)
        const { frames, length } = this.#framesOf(answer.body)
        offset += length
        for (const frame of frames) {
          if (frame.kind === 'end') return frame.end
          await io.onOutput(frame.kind, frame.content)
        }
      } catch (error) {
        if (!(error instanceof LinkError) || over.aborted) throw error
        if (error.code === 'ANSWER') throw linkFailed(this.#agent, error)
        lostAt ??= performance.now()
        failures += 1
        const lostMs = performance.now() - lostAt
        if (lostMs > orphanedMs + AFTER_ORPHANED_MS) {
          const seconds = Math.round(lostMs / 1_000)
          throw new CommandError(
            `the link to ${this.#agent} was lost while the command ran and did not come back within ${seconds} s`,
            'target_connection_lost',
          )
        }
        await sleep(fullJitter(failures, RETRY), over)
      }
    }
  }

  /** Ends the command. Repeats the call until the agent answers. */
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

  /** Lets the agent delete the folder of the command now. Without this call the agent deletes the folder later. */
  #forget(link: AgentLink, id: string): void {
    const forgotten = link
      .call({
        method: 'DELETE',
        path: `/v1/commands/${id}`,
        limit: SMALL_ANSWER,
        signal: AbortSignal.timeout(CONFIRM_MS),
      })
      .catch(() => {})
    this.#lastCalls = Promise.all([this.#lastCalls, forgotten])
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

  #outputProblem(answer: LinkAnswer): CommandError {
    const { code } = this.#refusalOf(answer)
    if (code !== 'NOT_FOUND') return this.#refused(answer)
    return new UnknownCommand(`${this.#agent} no longer knows the command: its disk was emptied, or it was forgotten`)
  }

  #wrong(what: string): CommandError {
    return new CommandError(`${this.#agent} gave a wrong answer: ${plain(what).slice(0, 200)}`)
  }
}

/** The format is AGENT_COMMAND_ID. */
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

function agentOn(targetName: string, address: AgentAddress): string {
  return `the agent on ${targetName} (${endpointOf(address)})`
}

const linkFailed = (agent: string, error: LinkError): CommandError =>
  new CommandError(linkProblem(agent, error), networkReason(error.code))

function linkProblem(agent: string, error: LinkError): string {
  const { code, message } = error
  if (code === 'ECONNREFUSED') return `${agent} refused the connection`
  if (code === 'ETIMEDOUT') return `${agent} does not answer`
  if (code === 'ECONNRESET' || code === 'EPIPE') return `${agent} closed the connection`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the host name of ${agent} cannot be resolved`
  if (code === 'EPROTO' || code?.startsWith('ERR_SSL')) {
    return `${agent} does not accept its key: it was revoked or enrolled anew, or something else answers there`
  }
  if (code === 'ANSWER') return `${agent} gave a wrong answer: ${message}`
  return `${agent} cannot be reached (${code ?? message.slice(0, 200)})`
}
