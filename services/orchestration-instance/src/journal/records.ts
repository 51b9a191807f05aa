import type { RunEvent } from '@slipway/contracts'

/** First line of a journal. The specification holds secrets, so the instance seals it with its own key. */
export interface Header {
  journal: 1
  deployment_id: string
  epoch: number
  /** The deadline of the deployment by the clock of this machine; null for no limit. */
  deadline: string | null
  sealed_spec: string
}

/**
 * The other lines: numbered events, and facts for this instance alone. A failed attempt with a retry is such a fact.
 * `acknowledged` is the number of the first event that the bridge may still need. `next_line` is the number of the next log
 * line, for a journal that was rewritten without its acknowledged log lines. The last `acknowledged` of a killed process may be
 * missing. A process that suspends the run writes `suspended`.
 */
export type JournalRecord =
  | { n: number; event: RunEvent }
  | { failed_try: [target: number, action: number, attempt: number] }
  | { acknowledged: number; next_line?: number }
  | { suspended: true; acknowledged: number }
  | { fenced: string }

export function sealedUnder(header: { deployment_id: string; epoch: number }): string {
  return `run:${header.deployment_id}:${header.epoch}`
}
