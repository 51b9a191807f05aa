import type { RunEvent } from '@slipway/contracts'

/** First line of a journal. The run's specification holds secrets, so it is sealed with the instance's own key. */
export interface Header {
  journal: 1
  deployment_id: string
  epoch: number
  /** When the deployment's time is over, by this machine's clock; null for no limit. */
  deadline: string | null
  sealed_spec: string
}

/**
 * The other lines: an event with its number, and what only this instance has to know. An attempt that failed and will be
 * repeated is no event; `acknowledged` says before which event the bridge needs none again,
 * and where the lines before it are left out, how many of the deployment's lines there were.
 */
export type Record =
  | { n: number; event: RunEvent }
  | { failed_try: [target: number, action: number, attempt: number] }
  | { acknowledged: number; next_line?: number }
  | { fenced: string }

export function sealedUnder(header: { deployment_id: string; epoch: number }): string {
  return `run:${header.deployment_id}:${header.epoch}`
}
