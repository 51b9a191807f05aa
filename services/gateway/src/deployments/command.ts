import { type Broker, BrokerUnavailable, RequestTimeout } from '@slipway/broker'
import type { CommandBody, CommandReply, CommandType } from '@slipway/contracts'
import { Problem, unavailable } from '@slipway/domain'
import { sleep } from '@slipway/runtime'

/** Past this a command has no effect any more, so that a 503 after it is true. */
const DEADLINE_MS = 8_000
/** Longer than the deadline: whatever took effect at the last moment can still be told. */
const ANSWER_MS = 9_000
const LOOK_AGAIN_MS = 250

export interface CommandOptions<R> {
  requestId: string
  /**
   * Finds out what became of the command when no answer came: the answer may be lost while the effect is there. Null
   * when there is no effect. Left out where there never is one.
   */
  lookUp?: () => Promise<R | null>
}

/**
 * Sends a command and gives its result.
 * @throws Problem as whoever handled the command said, or SERVICE_UNAVAILABLE: then it has had no effect
 */
export async function command<T extends CommandType>(
  broker: Pick<Broker, 'request'>,
  type: T,
  body: CommandBody<T>,
  { requestId, lookUp }: CommandOptions<CommandReply<T>>,
): Promise<CommandReply<T>> {
  const sentAt = Date.now()
  try {
    const reply = await broker.request(type, body, {
      timeoutMs: ANSWER_MS,
      deadline: new Date(sentAt + DEADLINE_MS).toISOString(),
      request_id: requestId,
    })
    if (reply.ok) return reply.result
    throw Problem.from({ error: reply.problem })
  } catch (error) {
    if (!mayHaveTakenEffect(error)) throw error
    const found = lookUp === undefined ? null : await outcome(lookUp, sentAt + ANSWER_MS)
    if (found === null) throw unavailable('The orchestration service did not answer; nothing was done, try again')
    return found
  }
}

const mayHaveTakenEffect = (error: unknown) =>
  error instanceof RequestTimeout || (error instanceof BrokerUnavailable && error.mayHaveBeenSent)

/** Looks until there is an effect or can be none any more. */
async function outcome<R>(lookUp: () => Promise<R | null>, until: number): Promise<R | null> {
  for (;;) {
    const found = await lookUp()
    if (found !== null || Date.now() >= until) return found
    await sleep(LOOK_AGAIN_MS)
  }
}
