import type { LogStreamMessage } from '@slipway/contracts'
import { createParser } from 'eventsource-parser'
import type { Connection } from './connection.ts'
import { ApiError, ConnectionError, TokenExchangeError } from './errors.ts'
import { sleep } from './sleep.ts'

export interface FollowOptions {
  /** The number of the first log line. Default: 0. */
  from?: number
  /** How long the server may be away before this fails, in milliseconds. Default: 60,000. */
  giveUpAfterMs?: number
  /** Called once in each outage that lasts longer than a moment. */
  onLost?: (outage: Outage) => void
  /** Called when the stream goes on after `onLost`. */
  onBack?: (outage: { awayMs: number }) => void
  signal?: AbortSignal
}

export interface Outage {
  /** The number of the line with which the stream will go on. */
  nextLine: number
  /** How long this tries to connect again. */
  tryForMs: number
}

// The server sends a `ping` every 15 s. After three missing pings the connection counts as lost.
const SILENCE_MS = 45_000
const RETRY_FROM_MS = 100
const RETRY_TO_MS = 5_000

/**
 * Follows the live log of a deployment: state, steps, progress and lines, until the final `state_change`. After a lost connection,
 * this resumes with a new token at the next line, so no line is missing or repeated. Each stream begins with state and steps; this
 * drops those that have not changed. Throws ApiError if the server refuses, or the last error if the server does not come back.
 */
export async function* followLogs(
  connection: Connection,
  deploymentId: string,
  { from = 0, giveUpAfterMs = 60_000, signal, ...listeners }: FollowOptions = {},
): AsyncGenerator<LogStreamMessage, void, undefined> {
  const seen = new SeenLines(from)
  const watch = new OutageWatch(listeners)
  let lastMessageAt = performance.now()
  let waitMs = RETRY_FROM_MS
  try {
    for (;;) {
      let problem: unknown = new Error(`the log stream of deployment ${deploymentId} ended before the deployment did`)
      try {
        for await (const message of openStream(connection, deploymentId, seen.nextLine, signal)) {
          lastMessageAt = performance.now()
          waitMs = RETRY_FROM_MS
          watch.end()
          if (seen.isNew(message)) yield message
          if (isEnd(message)) return
        }
      } catch (error) {
        if (!isTemporary(error)) throw error
        problem = error
      }
      signal?.throwIfAborted()
      const away = performance.now() - lastMessageAt
      if (away > giveUpAfterMs) throw problem
      watch.begin({ nextLine: seen.nextLine, tryForMs: giveUpAfterMs - away })
      await sleep(waitMs / 2 + (Math.random() * waitMs) / 2, signal)
      waitMs = Math.min(waitMs * 2, RETRY_TO_MS)
    }
  } finally {
    watch.stop()
  }
}

/** A connection that is back before then was only replaced, for example by another gateway. */
const MOMENT_MS = 500

class OutageWatch {
  readonly #listeners: Pick<FollowOptions, 'onLost' | 'onBack'>
  #timer: ReturnType<typeof setTimeout> | undefined
  #began: number | undefined
  #isAnnounced = false

  constructor(listeners: Pick<FollowOptions, 'onLost' | 'onBack'>) {
    this.#listeners = listeners
  }

  begin(outage: Outage): void {
    if (this.#began !== undefined) return
    this.#began = performance.now()
    this.#timer = setTimeout(() => {
      this.#isAnnounced = true
      this.#listeners.onLost?.(outage)
    }, MOMENT_MS)
  }

  end(): void {
    if (this.#began === undefined) return
    const awayMs = performance.now() - this.#began
    const wasAnnounced = this.#isAnnounced
    this.stop()
    if (wasAnnounced) this.#listeners.onBack?.({ awayMs })
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#began = undefined
    this.#isAnnounced = false
  }
}

const FINAL: ReadonlySet<string> = new Set(['success', 'failed', 'cancelled', 'rolled_back'])
/** Whether a deployment in this state has ended. */
export const isFinalState = (state: string) => FINAL.has(state)

/** Only the last message has `log_lines`. The first message of a stream may have a final state, too, but no `log_lines`. */
function isEnd({ event, data }: LogStreamMessage): boolean {
  return event === 'state_change' && isFinalState(data.new_state) && data.log_lines !== undefined
}

class SilentStreamError extends Error {
  override readonly name = 'SilentStreamError'
}

/** Remembers which messages the caller has. */
class SeenLines {
  nextLine: number
  #state: string | undefined
  readonly #steps = new Map<string, string>()

  constructor(from: number) {
    this.nextLine = from
  }

  isNew({ event, data }: LogStreamMessage): boolean {
    switch (event) {
      case 'log': {
        if (data.log.metadata?.partial) return true
        const seq = data.log.metadata?.seq ?? this.nextLine
        if (seq < this.nextLine) return false
        this.nextLine = seq + 1
        return true
      }
      case 'step_update': {
        if (this.#steps.get(data.step_id) === data.state) return false
        this.#steps.set(data.step_id, data.state)
        return true
      }
      case 'state_change': {
        if (isFinalState(data.new_state)) return data.log_lines !== undefined
        if (this.#state === data.new_state) return false
        this.#state = data.new_state
        return true
      }
      default:
        return true
    }
  }
}

/** Opens one connection with a new token. Ends when the server closes it, and throws SilentStreamError without a ping. */
async function* openStream(
  connection: Connection,
  id: string,
  from: number,
  outer: AbortSignal | undefined,
): AsyncGenerator<LogStreamMessage, void, undefined> {
  const { sse_token } = await connection.call('createSseToken', { body: {}, ...(outer ? { signal: outer } : {}) })
  const silence = new AbortController()
  const abort = () => silence.abort(new SilentStreamError(`the log stream sent nothing for ${SILENCE_MS / 1_000} s`))
  let timer = setTimeout(abort, SILENCE_MS)
  const restartTimer = () => {
    clearTimeout(timer)
    timer = setTimeout(abort, SILENCE_MS)
  }
  const signal = outer ? AbortSignal.any([outer, silence.signal]) : silence.signal
  try {
    const response = await connection.openStream('streamDeploymentLogs', {
      params: { id },
      query: { sse_token, from },
      signal,
    })
    yield* messagesOf(response, restartTimer)
  } finally {
    clearTimeout(timer)
    silence.abort()
  }
}

async function* messagesOf(response: Response, onChunk: () => void): AsyncGenerator<LogStreamMessage, void, undefined> {
  const arrived: LogStreamMessage[] = []
  const parser = createParser({ onEvent: ({ data }) => arrived.push(JSON.parse(data) as LogStreamMessage) })
  const decoder = new TextDecoder()
  // Not every browser can iterate over a body.
  const reader = response.body?.getReader()
  if (reader === undefined) return
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      onChunk()
      parser.feed(decoder.decode(read.value, { stream: true }))
      yield* arrived.splice(0)
    }
  } finally {
    // Frees the connection if the caller stops reading early.
    await reader.cancel().catch(() => {})
  }
}

function isTemporary(error: unknown): boolean {
  if (error instanceof TokenExchangeError) return false
  // Redis may have lost the token before its use. A new token works.
  if (error instanceof ApiError) return error.passing || error.code === 'INVALID_TOKEN'
  // fetch reports a connection that breaks in the middle as TypeError.
  return error instanceof ConnectionError || error instanceof SilentStreamError || (error as Error).name === 'TypeError'
}
