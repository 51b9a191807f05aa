import { analyse } from '@slipway/domain/analysis'
import type { Cause } from './overview.sql.ts'

export interface Failure {
  /** The deployment. */
  id: string
  analysis_enabled: boolean
  /** Null: no command failed. */
  cause: Cause | null
}

export interface FailureGroup {
  fingerprint: string | null
  summary: string
  count: number
  /** The deployments, in the order of the failures. */
  ids: string[]
}

const UNEXPLAINED = { fingerprint: null, summary: 'No failed command explains it' }

/** The failures of the same kind together, the most frequent kind first; of equally many, the one that came first. */
export function groupFailures(failures: readonly Failure[], most: number): FailureGroup[] {
  const groups = new Map<string, FailureGroup>()
  for (const failure of failures) {
    const { fingerprint, summary } = explanationOf(failure)
    const key = JSON.stringify(fingerprint === null ? [summary] : fingerprint)
    const group = groups.get(key) ?? { fingerprint, summary, count: 0, ids: [] }
    group.count += 1
    group.ids.push(failure.id)
    groups.set(key, group)
  }
  return [...groups.values()].sort((one, other) => other.count - one.count).slice(0, most)
}

function explanationOf({ analysis_enabled, cause }: Failure): Pick<FailureGroup, 'fingerprint' | 'summary'> {
  if (cause === null) return UNEXPLAINED
  if (cause.summary !== null) return { fingerprint: cause.fingerprint, summary: cause.summary }
  if (analysis_enabled) {
    const { exit_code, error_message, failure_reason: reason, completed_at } = cause
    const tails = { stdout_tail: cause.stdout_tail ?? '', stderr_tail: cause.stderr_tail ?? '' }
    const { analysis } = analyse({ exit_code, error_message, reason, subject: null, ...tails }, completed_at)
    return { fingerprint: analysis.fingerprint, summary: analysis.summary }
  }
  return { fingerprint: null, summary: cause.error_message ?? `${cause.action_name ?? 'a command'} failed` }
}
