import type { JoinRequest } from '@slipway/contracts'
import { BridgeTlsError, fullJitter, type Logger, sleep } from '@slipway/runtime'
import { type BridgeClient, BridgeError, UnauthorizedError } from './bridge-client.ts'
import type { Identity, Membership } from './identity.ts'
import type { JoinTokenSource } from './join-token.ts'

/** For a bridge that cannot be reached or has no time. */
const RETRY = { baseMs: 500, capMs: 15_000 }
/** For a refusal that an administrator may resolve. */
const REFUSED_RETRY = { baseMs: 30_000, capMs: 60_000 }

export const TOKEN_ADVICE =
  'make a join token with `slipway join-tokens create` and write it to the file of SLIPWAY_JOIN_TOKEN_FILE'

interface JoinOptions {
  bridge: Pick<BridgeClient, 'join'>
  identity: Identity
  self: Omit<JoinRequest, 'join_key'>
  /** Null if no source is configured: then a removed instance waits for its restart. */
  tokens: JoinTokenSource | null
  logger: Logger
  /** Ends the process, because the source can have no other token. */
  fatal(error: unknown): void
  /** How often the instance reads the token source again. This makes no call to the bridge. */
  readTokenMs: number
}

/** Lets this instance join with a new token. */
export class Joining {
  readonly #options: JoinOptions
  /** The last token that the bridge refused. It is not sent again. */
  #refused: string | null = null
  #failures = 0
  #lastProblem = ''

  constructor(options: JoinOptions) {
    this.#options = options
  }

  /** Whether the source has a token that was neither used nor refused. Does not wait for standard input. */
  async hasNewToken(): Promise<boolean> {
    return this.#options.tokens?.canChange === true && (await this.#newToken()) !== null
  }

  /** Repeats the join until it succeeds; null if the signal aborts first. */
  async join(signal: AbortSignal): Promise<Membership | null> {
    while (!signal.aborted) {
      const token = await this.#newToken()
      if (token === null) {
        await sleep(this.#options.readTokenMs, signal)
        continue
      }
      const wait = await this.#attempt(token)
      const { membership } = this.#options.identity
      if (wait === null) return membership
      await sleep(wait, signal)
    }
    return null
  }

  /** Returns the wait in ms before the next attempt; null after a successful join. */
  async #attempt(token: string): Promise<number | null> {
    const { bridge, identity, self, logger } = this.#options
    try {
      const { instance_id, credential, lost_after_seconds } = await bridge.join(
        { ...self, join_key: identity.joinKey },
        token,
      )
      const given = { next_credential: null, credential_since: new Date().toISOString() }
      await identity.join({ instance_id, name: self.name, credential, ...given, lost_after_seconds }, token)
      logger.info('joined', { instance_id, name: self.name })
      this.#failures = 0
      this.#lastProblem = ''
      return null
    } catch (error) {
      this.#failures += 1
      if (error instanceof UnauthorizedError) return this.#refuse(token, error)
      const isRefusal = error instanceof BridgeError && error.status < 500
      if (isRefusal) this.#tell(`the bridge refuses to let this instance join: ${error.message}`)
      else if (error instanceof BridgeTlsError) this.#tell(`the bridge cannot be reached to join: ${error.message}`)
      else if (this.#failures === 1 || this.#failures % 20 === 0) {
        logger.error('the bridge cannot be reached to join: check SLIPWAY_BRIDGE_URL', {
          attempt: this.#failures,
          error,
        })
      }
      return fullJitter(this.#failures, isRefusal ? REFUSED_RETRY : RETRY)
    }
  }

  #refuse(token: string, error: UnauthorizedError): number {
    const { tokens, fatal } = this.#options
    this.#refused = token
    const message = `the bridge refuses the token from ${tokens?.name}: ${error.message}`
    if (tokens?.canChange) this.#tell(message)
    else fatal(new Error(message))
    return 0
  }

  async #newToken(): Promise<string | null> {
    const { tokens, identity, fatal } = this.#options
    if (tokens === null) return null
    try {
      const token = await tokens.read()
      if (token !== null && token !== this.#refused && !identity.hasUsed(token)) return token
      if (token === null && tokens.canChange) this.#tell(`there is no token in ${tokens.name}: ${TOKEN_ADVICE}`)
      else if (token === null) fatal(new Error(`there is no token on ${tokens.name}: ${TOKEN_ADVICE}`))
      else if (token !== this.#refused) {
        this.#tell(`the token in ${tokens.name} was used already, and this instance was removed since: ${TOKEN_ADVICE}`)
      }
    } catch (error) {
      this.#tell(`${tokens.name} cannot be read: ${(error as Error).message}`)
    }
    return null
  }

  /** Logs a problem once until it changes, because the number of attempts has no limit. */
  #tell(message: string): void {
    if (this.#lastProblem === message) return
    this.#lastProblem = message
    this.#options.logger.error(message)
  }
}
