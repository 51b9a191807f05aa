import type { RunRef, SyncRequest } from '@slipway/contracts'
import type { StepRef } from '@slipway/domain'

type Reports = Pick<SyncRequest, 'stopped' | 'refused' | 'declined'>

/** As many of each kind as one sync may carry. */
const MAX_REPORTS = 1_000

/** Reports of runs that are no longer here. Each is kept until a sync has delivered it. */
export class RunReports {
  readonly #reports: Reports = { stopped: [], refused: [], declined: [] }
  /** Called when there is something to tell. */
  onNews: () => void = () => {}

  /** The run was stopped; of these steps the commands may still run. */
  stopped({ deployment_id, epoch }: RunRef, unconfirmed: readonly StepRef[]): void {
    const places = unconfirmed.map(({ target, action }): [number, number] => [target, action])
    this.#reports.stopped.push({ deployment_id, epoch, unconfirmed: places })
    this.onNews()
  }

  /** The run can never start here. */
  refused({ deployment_id, epoch }: RunRef, reason: string): void {
    this.#reports.refused.push({ deployment_id, epoch, reason })
    this.onNews()
  }

  /** The run cannot start here now. */
  declined({ deployment_id, epoch }: RunRef): void {
    this.#reports.declined.push({ deployment_id, epoch })
    this.onNews()
  }

  /** The oldest reports, and what to call when they were told. */
  take(): { reports: Reports; delivered(): void } {
    const { stopped, refused, declined } = this.#reports
    const reports = {
      stopped: stopped.slice(0, MAX_REPORTS),
      refused: refused.slice(0, MAX_REPORTS),
      declined: declined.slice(0, MAX_REPORTS),
    }
    return {
      reports,
      delivered: () => {
        stopped.splice(0, reports.stopped.length)
        refused.splice(0, reports.refused.length)
        declined.splice(0, reports.declined.length)
      },
    }
  }
}
