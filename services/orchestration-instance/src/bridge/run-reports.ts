import type { RunRef, SyncRequest } from '@slipway/contracts'
import type { StepRef } from '@slipway/domain'

type Reports = Pick<SyncRequest, 'stopped' | 'refused' | 'declined'>

/** How many reports of each kind one sync may carry. */
const MAX_REPORTS = 1_000

/** Reports of runs that this instance has stopped or not accepted. A report stays until a sync has delivered it. */
export class RunReports {
  readonly #reports: Reports = { stopped: [], refused: [], declined: [] }
  /** Called when a sync has something to report. */
  onUpdate: () => void = () => {}

  /** The run was stopped. The commands of the unconfirmed steps may still run. */
  stopped({ deployment_id, epoch }: RunRef, unconfirmed: readonly StepRef[]): void {
    const places = unconfirmed.map(({ target, action }): [number, number] => [target, action])
    this.#reports.stopped.push({ deployment_id, epoch, unconfirmed: places })
    this.onUpdate()
  }

  /** This instance can never start the run. */
  refused({ deployment_id, epoch }: RunRef, reason: string): void {
    this.#reports.refused.push({ deployment_id, epoch, reason })
    this.onUpdate()
  }

  /** This instance cannot start the run now. */
  declined({ deployment_id, epoch }: RunRef): void {
    this.#reports.declined.push({ deployment_id, epoch })
    this.onUpdate()
  }

  /** The oldest reports, and a function to call after their delivery. */
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
