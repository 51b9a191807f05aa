import { analyse } from '@slipway/domain/analysis'
import type { Cause } from './overview.sql.ts'

export interface Failure {
  /** The deployment. */
  id: string
  analysis_enabled: boolean
  /** Null: no command failed. */
  cause: Cause | null
}

/** What the first failed command of a deployment says. */
export interface ExplainedFailure {
  /** The deployment. */
  id: string
  fingerprint: string | null
  summary: string
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
export function groupFailures(failures: readonly ExplainedFailure[], most: number): FailureGroup[] {
  const groups = new Map<string, FailureGroup>()
  for (const { id, fingerprint, summary } of failures) {
    const key = JSON.stringify(fingerprint === null ? [summary] : fingerprint)
    const group = groups.get(key) ?? { fingerprint, summary, count: 0, ids: [] }
    group.count += 1
    group.ids.push(id)
    groups.set(key, group)
  }
  return [...groups.values()].sort((one, other) => other.count - one.count).slice(0, most)
}

/** Analyses a failure without a stored analysis, unless its deployment asked for none. */
export function explainFailure({ id, analysis_enabled, cause }: Failure): ExplainedFailure {
  if (cause === null) return { id, ...UNEXPLAINED }
  if (cause.summary !== null) return { id, fingerprint: cause.fingerprint, summary: cause.summary }
  if (analysis_enabled) {
    const { exit_code, error_message, failure_reason: reason, completed_at } = cause
    const tails = { stdout_tail: cause.stdout_tail ?? '', stderr_tail: cause.stderr_tail ?? '' }
    const { analysis } = analyse({ exit_code, error_message, reason, subject: null, ...tails }, completed_at)
    return { id, fingerprint: analysis.fingerprint, summary: analysis.summary }
  }
  return { id, fingerprint: null, summary: cause.error_message ?? `${cause.action_name ?? 'a command'} failed` }
}
