import type { Envelope, EventBody } from '@slipway/contracts'
import type { Database } from '@slipway/database'
import type { Logger } from '@slipway/runtime'
import { confirmEnds } from '../deployments/close-steps.ts'
import { beginRollback, finishDeployment } from '../deployments/finish.ts'
import { ended } from '../deployments/metrics.ts'
import { declineRun } from '../leases/decline.ts'

export interface EventOptions {
  database: Database
  logger: Logger
  onCommitted(): void
  /** The queue may have become shorter, or a slot free. */
  wake(): void
}

/** Handles what instances and the catalog tell. Every other event is a reason to look at the queue. */
export function createEventHandler({ database, logger, onCommitted, wake }: EventOptions) {
  return async ({ type, body }: Envelope): Promise<void> => {
    switch (type) {
      case 'run.rolling_back':
        return note(await beginRollback(database, body as EventBody<'run.rolling_back'>), type, body)
      case 'run.finished':
        return noteEnd(body as EventBody<'run.finished'>)
      case 'run.declined':
        return note(await declineRun(database, body as EventBody<'run.declined'>), type, body)
      case 'run.stopped':
        return note(await confirmEnds(database, body as EventBody<'run.stopped'>), type, body)
      default:
        wake()
    }
  }

  async function noteEnd(body: EventBody<'run.finished'>): Promise<void> {
    const outcome = await finishDeployment(database, body)
    if (outcome !== null) ended.inc({ state: outcome })
    note(outcome !== null, 'run.finished', body)
  }

  function note(changed: boolean, type: string, body: unknown): void {
    if (changed) onCommitted()
    else logger.info('a late or repeated event changes nothing', { type, ...(body as object) })
  }
}
