import { type Broker, BrokerUnavailable, RequestTimeout } from '@slipway/broker'
import type { CommandBody, CommandReply, CommandType } from '@slipway/contracts'
import { Problem, unavailable } from '@slipway/domain'
import { sleep } from '@slipway/runtime'

import { answers } from './metrics.ts'

/** Past this a command has no effect any more, so that a 503 after it is true. */
const DEADLINE_MS = 8_000
/** Longer than the deadline: whatever took effect at the last moment can still be told. */
export const ANSWER_MS = 9_000
const LOOK_AGAIN_MS = 250

export interface CommandOptions<R> {
  requestId: string
  /** When the caller began to wait, by Date.now(): the deadline counts from there. Now when left out. */
  since?: number
  /** The id of the message, where whoever carries the command out knows it by that. */
  commandId?: string
  /** What to do when no answer came: it may be lost while the effect is there. Left out where there never is one. */
  effect?: Effect<R>
}

interface Effect<R> {
  /** Finds out what became of the command; null while there is no effect. */
  lookUp(): Promise<R | null>
  /** Sees to it that there can be none any more; false when there is. */
  forbid(refusal: Problem): Promise<boolean>
}

/**
 * Sends a command and gives its result.
 * @throws Problem as whoever handled the command said, or SERVICE_UNAVAILABLE: then it has had no effect
 */
export async function command<T extends CommandType>(
  broker: Pick<Broker, 'request'>,
  type: T,
  body: CommandBody<T>,
  { requestId, since, commandId, effect }: CommandOptions<CommandReply<T>>,
): Promise<CommandReply<T>> {
  const sentAt = since ?? Date.now()
  const began = performance.now()
  const waited = (outcome: string) => answers.observe({ command: type, outcome }, (performance.now() - began) / 1_000)
  try {
    const reply = await broker.request(type, body, {
      timeoutMs: Math.max(0, sentAt + ANSWER_MS - Date.now()),
      deadline: new Date(sentAt + DEADLINE_MS).toISOString(),
      request_id: requestId,
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
    const found = effect === undefined ? null : await outcome(effect, sentAt + ANSWER_MS, refusal)
    if (found === null) throw refusal
    return found
  }
}

const mayHaveTakenEffect = (error: unknown) =>
  error instanceof RequestTimeout || (error instanceof BrokerUnavailable && error.mayHaveBeenSent)

/** Looks until there is an effect, or it is too late for one. */
async function outcome<R>({ lookUp, forbid }: Effect<R>, until: number, refusal: Problem): Promise<R | null> {
  for (;;) {
    const found = await lookUp()
    if (found !== null) return found
    // A command that began before its deadline may end only now: of it and the refusal just one can leave the record.
    if (Date.now() >= until) return (await forbid(refusal)) ? null : lookUp()
    await sleep(LOOK_AGAIN_MS)
  }
}
