import { type Delivery, type Handler, MAX_ATTEMPTS, PoisonMessage } from '@slipway/broker'
import type { CommandBody, Envelope, RunRef } from '@slipway/contracts'
import type { Bridge } from '../bridge.ts'
import { askTogether, type RunQuestions, startRun } from './start.ts'
import { stopRun } from './stop.ts'

export interface Handover {
  /** Handles executor.commands. */
  handle: Handler
  /** Hands a run over after a heartbeat that missed it; errors are logged, the next heartbeat tries again. */
  inBackground(run: RunRef): void
  /** Resolves when nothing is in hand. */
  settled(): Promise<void>
}

/** At most so many at a time by heartbeats; the rest waits for the next one. */
const BACKGROUND_LIMIT = 16
/** Runs whose end is waited for; of more at a time the ends stay unconfirmed. */
const ENDINGS_LIMIT = 1_000

interface Means {
  bridge: Bridge
  asked: RunQuestions
  followUp(ending: () => Promise<void>): void
}

export function createHandover(bridge: Bridge): Handover {
  const inHand = new Map<string, Promise<void>>()
  const endings = new Set<Promise<void>>()
  const asked = askTogether(bridge.database)
  return {
    handle: (envelope, delivery) => untilHeartbeatsTakeOver({ bridge, asked, followUp }, envelope, delivery),
    inBackground(run) {
      const key = `${run.deployment_id}/${run.epoch}`
      if (inHand.has(key) || inHand.size >= BACKGROUND_LIMIT) return
      const work = startRun(bridge, asked, run)
        .catch((error: unknown) => bridge.logger.warn('a run could not be handed over again', { ...run, error }))
        .finally(() => inHand.delete(key))
      inHand.set(key, work)
    },
    async settled() {
      await Promise.all([...inHand.values(), ...endings])
    },
  }

  /** A command may take its time to end: what else there is to do does not wait for it. */
  function followUp(ending: () => Promise<void>): void {
    if (endings.size >= ENDINGS_LIMIT) return
    const work = ending()
      .catch((error: unknown) => bridge.logger.warn('the end of a run could not be told', { error }))
      .finally(() => endings.delete(work))
    endings.add(work)
  }
}

/**
 * An instance that cannot be reached is no fault of the message: after the last attempt heartbeats go on where it stops, by
 * resending what was not reported and stopping what has no lease. It must not end among the dead letters.
 */
async function untilHeartbeatsTakeOver(means: Means, envelope: Envelope, delivery: Delivery): Promise<void> {
  try {
    await execute(means, envelope)
  } catch (error) {
    if (error instanceof PoisonMessage || delivery.attempt < MAX_ATTEMPTS) throw error
    means.bridge.logger.warn('a command to an instance is given up, its heartbeats decide', {
      type: envelope.type,
      error,
    })
  }
}

async function execute({ bridge, asked, followUp }: Means, { type, body }: Envelope): Promise<void> {
  switch (type) {
    case 'run.start':
      return startRun(bridge, asked, body as CommandBody<'run.start'>)
    case 'run.stop':
      return followUp(await stopRun(bridge, body as CommandBody<'run.stop'>))
    default:
      throw new PoisonMessage(`${type} is no command of the executor-bridge`)
  }
}
