import { type Broker, BrokerUnavailable, RequestTimeout } from '@slipway/broker'
import type { CallingKey, CommandBody, CommandReply, CommandType } from '@slipway/contracts'
import { Problem, unavailable } from '@slipway/domain'
import { histogram, sleep, TIMED_OUT, withTimeout } from '@slipway/runtime'
import type { AnswerBounds } from '../handler.ts'
import { databaseUnreachable } from '../problems.ts'

const answerWait = histogram(
  'slipway_answer_wait_seconds',
  'Time until a command was answered or refused, or the gateway stopped waiting (unanswered)',
  ['command', 'outcome'],
)

const LOOK_AGAIN_MS = 250

export interface CommandOptions<R> {
  requestId: string
  /** The API key of the call, for the audit record of the command. */
  apiKey?: CallingKey | undefined
  bounds: AnswerBounds
  /** The id of the message, for commands that are identified by it. */
  commandId?: string
  /** For commands that change something. Without an answer, the command may still have taken effect. */
  effect?: Effect<R>
}

interface Effect<R> {
  /** Finds the result of the command; null while there is none. */
  lookUp(): Promise<R | null>
  /** Prevents a later effect. Returns false if the command has taken effect. */
  forbid(refusal: Problem): Promise<boolean>
}

/**
 * Sends a command and returns its result.
 * @throws Problem the refusal of the receiver, or SERVICE_UNAVAILABLE if the command has had no effect
 */
export async function sendCommand<T extends CommandType>(
  broker: Pick<Broker, 'request'>,
  type: T,
  body: CommandBody<T>,
  { requestId, apiKey, bounds, commandId, effect }: CommandOptions<CommandReply<T>>,
): Promise<CommandReply<T>> {
  const began = performance.now()
  const left = (bound: number) => Math.max(0, bound - began)
  const waited = (outcome: string) =>
    answerWait.observe({ command: type, outcome }, (performance.now() - began) / 1_000)
  try {
    const reply = await broker.request(type, body, {
      timeoutMs: left(bounds.answer),
      deadline: new Date(Date.now() + left(bounds.effect)).toISOString(),
      request_id: requestId,
      api_key: apiKey,
      ...(commandId === undefined ? {} : { message_id: commandId }),
    })
    waited(reply.ok ? 'answered' : 'refused')
    if (reply.ok) return reply.result
    throw Problem.from({ error: reply.problem })
  } catch (error) {
    if (error instanceof Problem) throw error
    waited('unanswered')
    if (!mayHaveTakenEffect(error)) throw error
    const refusal = unavailable('The orchestration service did not answer; nothing was done, try again')
    const found = effect === undefined ? null : await outcome(effect, bounds.answer, refusal)
    if (found === null) throw refusal
    return found
  }
}

const mayHaveTakenEffect = (error: unknown) =>
  error instanceof RequestTimeout || (error instanceof BrokerUnavailable && error.mayHaveBeenSent)

/** Looks for an effect until it is too late for one. */
async function outcome<R>({ lookUp, forbid }: Effect<R>, until: number, refusal: Problem): Promise<R | null> {
  for (;;) {
    const found = await lookUp()
    if (found !== null) return found
    // A command that began before its deadline may end only now. Command and refusal compete for the same audit record.
    if (performance.now() >= until) return (await forbid(refusal)) ? null : lookUp()
    await sleep(LOOK_AGAIN_MS)
  }
}

/**
 * The result of a command, if the database lets it be known in time. Else the command may have taken effect, or may do so later.
 * @throws Problem DATABASE_CONNECTION_ERROR
 */
export async function withinAnswerTime<T>({ last }: AnswerBounds, result: Promise<T>): Promise<T> {
  const known = await withTimeout(Math.max(0, last - performance.now()), result)
  if (known === TIMED_OUT) throw databaseUnreachable()
  return known
}
