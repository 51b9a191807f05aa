import type { JoinRequest } from '@slipway/contracts'
import { BridgeTlsError, fullJitter, type Logger, sleep } from '@slipway/runtime'
import { type BridgeClient, BridgeError, UnauthorizedError } from './bridge-client.ts'
import type { Identity, Membership } from './identity.ts'
import type { JoinTokenSource } from './join-token.ts'

/** How often to look whether there is a token, or another one. The bridge is not asked. */
const LOOK_MS = 1_000
/** The bridge could not be reached, or had no time. */
const RETRY = { baseMs: 500, capMs: 15_000 }
/** The bridge refused. An administrator may change that. */
const REFUSED_RETRY = { baseMs: 30_000, capMs: 60_000 }

export const TOKEN_ADVICE =
  'make a join token with `slipway instances join-token` and write it to the file of SLIPWAY_JOIN_TOKEN_FILE'

export interface JoinOptions {
  bridge: Pick<BridgeClient, 'join'>
  identity: Identity
  self: Omit<JoinRequest, 'join_key'>
  /** Null where no source is configured: then an instance that was removed waits until it is restarted. */
  tokens: JoinTokenSource | null
  logger: Logger
  /** Ends the process: no other token can come. */
  fatal(error: unknown): void
  lookMs?: number
}

/** Lets this instance join, with a token that it has not used before. */
export class Joining {
  readonly #options: JoinOptions
  /** The last token that the bridge refused: it is not shown again. */
  #refused: string | null = null
  #failures = 0
  #told = ''

  constructor(options: JoinOptions) {
    this.#options = options
  }

  /** Whether there is a token that was neither used nor refused. Standard input is not waited for. */
  async hasNewToken(): Promise<boolean> {
    return this.#options.tokens?.canChange === true && (await this.#newToken()) !== null
  }

  /** Repeats the join until it succeeds. Null when the signal ends it. */
  async join(signal: AbortSignal): Promise<Membership | null> {
    while (!signal.aborted) {
      const token = await this.#newToken()
      if (token === null) {
        await sleep(this.#options.lookMs ?? LOOK_MS, signal)
        continue
      }
      const wait = await this.#attempt(token)
      const { membership } = this.#options.identity
      if (wait === null) return membership
      await sleep(wait, signal)
    }
    return null
  }

  /** How long to wait until the next attempt, in ms; null when it has joined. */
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
      this.#told = ''
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
        this.#tell(`this instance has joined with the token in ${tokens.name} before, and was removed: ${TOKEN_ADVICE}`)
      }
    } catch (error) {
      this.#tell(`${tokens.name} cannot be read: ${(error as Error).message}`)
    }
    return null
  }

  /** Logs each problem once until it changes, because attempts go on without limit. */
  #tell(message: string): void {
    if (this.#told === message) return
    this.#told = message
    this.#options.logger.error(message)
  }
}
