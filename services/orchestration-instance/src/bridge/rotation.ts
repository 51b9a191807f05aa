import type { Logger } from '@slipway/runtime'
import type { BridgeClient } from './bridge-client.ts'
import type { Identity } from './identity.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const RETRY_MS = 60_000

interface RotationOptions {
  bridge: Pick<BridgeClient, 'newCredential'>
  identity: Identity
  logger: Logger
  everyMs?: number
  now?: () => number
}

/**
 * Exchanges the credential of this instance each day. The new credential replaces the old one after the first successful call
 * with it. If the process dies before it has stored the new credential, the old one is still valid.
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
    // The next exchange waits until a call with the newest credential has succeeded.
    if (this.#isRunning || membership === null || credential === null || membership.next_credential !== null) return
    if (now() < this.#notBefore || now() - Date.parse(membership.credential_since) < everyMs) return
    this.#isRunning = true
    try {
      const given = await bridge.newCredential(credential)
      await identity.storeNextCredential(given.credential, new Date(now()))
      logger.info('the bridge gave this instance a new credential')
    } catch (error) {
      this.#notBefore = now() + RETRY_MS
      logger.warn(
        'the credential of this instance could not be exchanged: it stays valid, and the next attempt is in a minute',
        { error },
      )
    } finally {
      this.#isRunning = false
    }
  }
}
