import type { Logger } from '@slipway/runtime'
import type { BridgeClient } from './bridge-client.ts'
import type { Identity } from './identity.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const RETRY_MS = 60_000

export interface RotationOptions {
  bridge: Pick<BridgeClient, 'newCredential'>
  identity: Identity
  logger: Logger
  everyMs?: number
  now?: () => number
}

/**
 * Exchanges the credential of this instance each day.
 *
 * The new credential is stored beside the old one, and replaces it when a call with it has succeeded. A process that
 * dies before it has stored the new one goes on with the old one, which the bridge still takes.
 */
export class Rotation {
  readonly #options: RotationOptions
  #isRunning = false
  #notBefore = 0

  constructor(options: RotationOptions) {
    this.#options = options
  }

  /** Call it after each successful sync. */
  async rotateIfDue(): Promise<void> {
    const { bridge, identity, logger, everyMs = DAY_MS, now = Date.now } = this.#options
    const { membership, credential } = identity
    // One exchange at a time: while the newest credential is not used, there is no other.
    if (this.#isRunning || membership === null || credential === null || membership.next_credential !== null) return
    if (now() < this.#notBefore || now() - Date.parse(membership.credential_since) < everyMs) return
    this.#isRunning = true
    try {
      const given = await bridge.newCredential(credential)
      await identity.takeCredential(given.credential, new Date(now()))
      logger.info('the bridge gave this instance a new credential')
    } catch (error) {
      this.#notBefore = now() + RETRY_MS
      logger.warn('the credential of this instance could not be exchanged; the old one stays good', { error })
    } finally {
      this.#isRunning = false
    }
  }
}
