import type { Answer } from '@slipway/client'
import type { Plan, Step } from './grid-rows.ts'

export type Failure = Answer<'listCommandResults'>[number]

export interface FailureGroup {
  key: string
  /** The one that ran first is the first. */
  failures: [Failure, ...Failure[]]
}

/** The steps of some failures, by their ids. */
export function stepsOf(plan: Plan | null, failures: readonly Failure[]): Map<string, Step> {
  const ids = new Set(failures.map(({ id }) => id))
  return new Map(plan?.steps.filter((step) => ids.has(step.id)).map((step) => [step.id, step]))
}

/** One group for each kind of failure, the most frequent one first. */
export function groupFailures(failures: readonly Failure[]): FailureGroup[] {
  const groups = new Map<string, [Failure, ...Failure[]]>()
  for (const failure of failures) {
    const { analysis, action_name, exit_code, error_message } = failure
    const key = analysis?.fingerprint ?? `${action_name} ${exit_code} ${error_message}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [failure])
    else group.push(failure)
  }
  return [...groups].map(([key, failures]) => ({ key, failures })).sort((a, b) => b.failures.length - a.failures.length)
}

/** What went wrong, in a sentence. */
export const summaryOf = ({ analysis, error_message, action_name }: Failure): string =>
  analysis?.summary ?? error_message ?? `${action_name} failed`

/** The end of what the command wrote. */
export const outputOf = ({ stderr_tail, stdout_tail }: Failure): string => (stderr_tail || stdout_tail) ?? ''

const SHOWN_LINES = 12

/** The last lines of an output. */
export const lastLines = (output: string): string => output.trimEnd().split('\n').slice(-SHOWN_LINES).join('\n')
