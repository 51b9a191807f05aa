/** Thrown by a handler: this message can never be handled. It goes to the dead letters at once, with the reason. */
export class PoisonMessage extends Error {
  override name = 'PoisonMessage'
}

/** RabbitMQ cannot be used now. */
export class BrokerUnavailable extends Error {
  override name = 'BrokerUnavailable'
  /** False: nothing was sent. True: it may have been, so look the outcome up before saying that nothing happened. */
  readonly mayHaveBeenSent: boolean

  constructor(message: string, options: { mayHaveBeenSent: boolean; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.mayHaveBeenSent = options.mayHaveBeenSent
  }
}

/** No answer came in time. The command may still take effect until its deadline. */
export class RequestTimeout extends Error {
  override name = 'RequestTimeout'
}

export interface PublishFailure {
  message_id: string
  reason: string
  /** Whether RabbitMQ may have the message: it was sent, and no answer came. */
  mayHaveBeenSent: boolean
}

/** Some messages of a publish were not confirmed; all those not listed were. */
export class PublishError extends Error {
  override name = 'PublishError'
  readonly failures: PublishFailure[]

  constructor(failures: PublishFailure[], total: number) {
    super(`${failures.length} of ${total} messages were not confirmed: ${failures[0]?.reason ?? 'unknown reason'}`)
    this.failures = failures
  }
}
