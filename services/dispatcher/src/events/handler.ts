import { type Handler, handleEvents } from '@slipway/broker'
import type { EventBody, EventHandlers } from '@slipway/contracts'
import type { Database } from '@slipway/database'
import type { Logger } from '@slipway/runtime'
import { confirmEnds } from '../deployments/close-steps.ts'
import { beginRollback, finishDeployment } from '../deployments/finish.ts'
import { ended } from '../deployments/metrics.ts'
import { reviewPromotionsOfAll, reviewRequestsOf, reviewRequestsWith } from '../pending/places.ts'
import { declineRun } from '../runs/decline.ts'

export interface EventOptions {
  database: Database
  logger: Logger
  onCommitted(): void
  /** Called when the queue may be shorter or a slot may be free. */
  wake(): void
}

/** Handles event messages of instances and of the catalog. */
export function createEventHandler({ database, logger, onCommitted, wake }: EventOptions): Handler {
  const handlers: EventHandlers<'dispatcher'> = {
    'run.rolling_back': async (body) => note(await beginRollback(database, body), 'run.rolling_back', body),
    'run.finished': noteEnd,
    'run.declined': async (body) => note(await declineRun(database, body), 'run.declined', body),
    'run.stopped': async (body) => note(await confirmEnds(database, body), 'run.stopped', body),
    'instance.created': wake,
    'instance.updated': wake,
    'instance.deleted': wake,
    'freeze.created': noteFreeze,
    'freeze.updated': noteFreeze,
    'freeze.deleted': noteFreeze,
    'target.moved': async ({ target_id }) => {
      await reviewRequestsWith(database, target_id)
      wake()
    },
    'rules.changed': async ({ environment_id }) => {
      await reviewRequestsOf(database, environment_id)
      wake()
    },
    'slot.freed': wake,
  }
  return handleEvents<'dispatcher'>(handlers)

  async function noteFreeze(): Promise<void> {
    await reviewPromotionsOfAll(database)
    wake()
  }

  async function noteEnd(body: EventBody<'run.finished'>): Promise<void> {
    const outcome = await finishDeployment(database, body)
    if (outcome !== null) ended.inc({ state: outcome })
    note(outcome !== null, 'run.finished', body)
  }

  function note(changed: boolean, type: string, body: object): void {
    if (changed) onCommitted()
    else logger.info('an event has no effect: it is late or repeated', { type, ...body })
  }
}
