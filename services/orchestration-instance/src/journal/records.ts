import type { RunEvent } from '@slipway/contracts'

/** First line of a journal. The run's specification holds secrets, so it is sealed with the instance's own key. */
export interface Header {
  journal: 1
  deployment_id: string
  epoch: number
  /** The deadline of the deployment by the clock of this machine; null for no limit. */
  deadline: string | null
  sealed_spec: string
}

/**
 * The other lines: events with their numbers, and facts for this instance only. A failed attempt that will be repeated is no
 * event. `acknowledged` is the number of the first event that the bridge may still need. `next_line` replaces log lines that
 * were left out.
 */
export type Record =
  | { n: number; event: RunEvent }
  | { failed_try: [target: number, action: number, attempt: number] }
  | { acknowledged: number; next_line?: number }
  | { fenced: string }

export function sealedUnder(header: { deployment_id: string; epoch: number }): string {
  return `run:${header.deployment_id}:${header.epoch}`
}
