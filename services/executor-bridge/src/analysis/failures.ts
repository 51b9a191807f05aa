import type { Queryable } from '@slipway/database'
import { analyse, type Failure, type Finding } from '@slipway/domain/analysis'
import { storableText } from '../storable.ts'
import { findPlaces } from './analysis.sql.ts'

/** A step after an event. Its last attempt may have ended. */
interface StepEnd {
  target: number
  action: number
  result: (Omit<Failure, 'places'> & { status: 'completed' | 'failed'; completed_at: string }) | null
}

/** A failed command, with the explanation of the rules. */
export interface AnalysedFailure {
  target: number
  action: number
  failure: Failure
  finding: Finding
}

/** By place in the plan. */
export type Failures = ReadonlyMap<string, AnalysedFailure>

export const placeKey = (target: number, action: number) => `${target}/${action}`

/** Analyses the commands of a batch that failed. Equal failures, as on simulated targets, are analysed once. */
export async function analyseFailures(
  tx: Queryable,
  deploymentId: string,
  changes: readonly StepEnd[],
): Promise<Failures> {
  const failed = changes.filter(({ result }) => result?.status === 'failed')
  if (failed.length === 0) return new Map()
  const places = await placesOf(tx, deploymentId, [...new Set(failed.map(({ target }) => target))])
  const alike = new Map<string, Finding>()
  return new Map(
    failed.flatMap(({ target, action, result }) => {
      if (!result) return []
      const { exit_code, error_message, reason, subject, stdout_tail, stderr_tail, completed_at } = result
      const ended = { exit_code, error_message, reason, subject, stdout_tail, stderr_tail }
      const failure = { ...ended, places: places.get(target) ?? [] }
      const key = JSON.stringify([failure, completed_at])
      const finding = alike.get(key) ?? storable(analyse(failure, completed_at))
      alike.set(key, finding)
      return [[placeKey(target, action), { target, action, failure, finding }]]
    }),
  )
}

/** The name and host of each target: they differ on targets that fail in the same way. */
async function placesOf(tx: Queryable, deploymentId: string, targets: number[]): Promise<Map<number, string[]>> {
  const rows = await findPlaces.all(tx, { deployment_id: deploymentId, targets })
  return new Map(rows.map(({ target_index, names }) => [target_index, names]))
}

function storable({ rule, analysis }: Finding): Finding {
  const { summary, likely_cause } = analysis
  return {
    rule,
    analysis: { ...analysis, summary: storableText(summary), likely_cause: storableText(likely_cause) },
  }
}
