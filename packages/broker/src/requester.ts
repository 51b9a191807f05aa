import {
  type CallingKey,
  type CommandBody,
  type CommandReply,
  type CommandType,
  type ReplyEnvelope,
  validateBody,
  validateReply,
} from '@slipway/contracts'
import { failpoint, type Logger, uuidv7 } from '@slipway/runtime'
import type { ConfirmChannel, ConsumeMessage } from 'amqplib'
import { BrokerUnavailable, PublishError, RequestTimeout } from './errors.ts'
import { encode } from './message.ts'
import { Publisher } from './publisher.ts'

/** Direct reply-to of RabbitMQ: it becomes an address to which any connection can send the answer. */
const REPLY_TO = 'amq.rabbitmq.reply-to'

export interface RequestOptions {
  /** How long to wait for the answer, in ms. */
  timeoutMs: number
  /** ISO 8601; past it the command has no effect. Without one: now and `timeoutMs`. */
  deadline?: string
  request_id: string | null
  message_id?: string
  /** The API key of the call, for the audit record. */
  api_key?: CallingKey | undefined
}

interface OpenRequest {
  type: CommandType
  resolve(reply: ReplyEnvelope): void
  reject(error: Error): void
}

/** Sends commands and waits for their answers, and answers such commands. */
export class Requester {
  readonly publisher: Publisher
  readonly #namespace: string
  readonly #logger: Logger
  readonly #waiting = new Map<string, OpenRequest>()

  constructor(options: { namespace: string; logger: Logger; prepare(channel: ConfirmChannel): Promise<void> }) {
    this.#namespace = options.namespace
    this.#logger = options.logger
    this.publisher = new Publisher({
      logger: options.logger,
      prepare: async (channel) => {
        await options.prepare(channel)
        await channel.consume(REPLY_TO, (message) => this.#answered(message), { noAck: true })
      },
      lost: () => this.#lost(),
    })
  }

  /**
   * Sends a command and waits for its answer. Throws TypeError for an invalid body,
   * BrokerUnavailable (see `mayHaveBeenSent`) or RequestTimeout.
   */
  request<T extends CommandType>(
    type: T,
    body: CommandBody<T>,
    options: RequestOptions,
  ): Promise<ReplyEnvelope<CommandReply<T>>> {
    const problems = validateBody(type, body)
    if (problems.length > 0) throw new TypeError(`${type} is not valid: ${problems.slice(0, 5).join('; ')}`)
    const correlationId = uuidv7()
    const message = encode(
      {
        exchange: 'commands',
        type,
        body,
        message_id: options.message_id ?? uuidv7(),
        request_id: options.request_id,
        reply_to: REPLY_TO,
        correlation_id: correlationId,
        deadline: options.deadline ?? new Date(Date.now() + options.timeoutMs).toISOString(),
        api_key: options.api_key,
      },
      this.#namespace,
    )
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(correlationId)
        reject(new RequestTimeout(`no answer to ${type} within ${options.timeoutMs} ms`))
      }, options.timeoutMs)
      const settle = (fn: () => void) => {
        clearTimeout(timer)
        this.#waiting.delete(correlationId)
        fn()
      }
      this.#waiting.set(correlationId, {
        type,
        resolve: (reply) => settle(() => resolve(reply as ReplyEnvelope<CommandReply<T>>)),
        reject: (error) => settle(() => reject(error)),
      })
      this.publisher.send([message]).catch((error: Error) => {
        this.#waiting.get(correlationId)?.reject(unavailable(error))
      })
    })
  }

  /** Answers a command, best effort: the sender may no longer wait. No effect may depend on the answer. */
  reply(replyTo: string | undefined, correlationId: string | undefined, reply: ReplyEnvelope | { json: string }): void {
    // Any other address would be the name of a queue.
    if (!replyTo?.startsWith(`${REPLY_TO}.`) || correlationId === undefined) return
    const message = {
      exchange: '',
      routingKey: replyTo,
      content: Buffer.from('json' in reply ? reply.json : JSON.stringify(reply)),
      options: { messageId: uuidv7(), correlationId, contentType: 'application/json', persistent: false },
    }
    this.publisher.send([message]).catch((error: Error) => this.#logger.debug('an answer was not delivered', { error }))
  }

  stop(): void {
    this.publisher.stop()
    this.#lost()
  }

  #answered(message: ConsumeMessage | null): void {
    const waiting = this.#waiting.get(String(message?.properties.correlationId))
    if (!message || !waiting) return
    failpoint(waiting, 'after-answer')
    try {
      const reply = JSON.parse(message.content.toString('utf8')) as ReplyEnvelope
      if (typeof reply?.ok !== 'boolean') throw new TypeError('it does not say whether it is ok')
      const problems = reply.ok ? validateReply(waiting.type, reply.result) : []
      if (problems.length > 0) throw new TypeError(`its result is not valid: ${problems.slice(0, 5).join('; ')}`)
      waiting.resolve(reply)
    } catch (cause) {
      waiting.reject(new BrokerUnavailable('the answer cannot be read', { mayHaveBeenSent: true, cause }))
    }
  }

  /** The reply address is gone with the channel. */
  #lost(): void {
    for (const waiting of [...this.#waiting.values()]) {
      const message = 'the connection to RabbitMQ was lost before the answer came'
      waiting.reject(new BrokerUnavailable(message, { mayHaveBeenSent: true }))
    }
  }
}

function unavailable(error: Error): Error {
  if (!(error instanceof PublishError)) return error
  const mayHaveBeenSent = error.failures.some((failure) => failure.mayHaveBeenSent)
  return new BrokerUnavailable(error.failures[0]?.reason ?? error.message, { mayHaveBeenSent, cause: error })
}
