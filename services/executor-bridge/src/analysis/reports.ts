import type { StoredLine } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import type { Analysis } from '@slipway/domain/analysis'
import { findAnalyses } from './analysis.sql.ts'
import { type Failures, placeKey } from './failures.ts'

/** The line with which an instance reports a failed step, with the exit code of the command. */
const isReport = ({ s, l, i, a, x }: StoredLine) =>
  s === 's' && l === 'error' && i !== null && a !== null && x !== undefined && 'exit_code' in x

/**
 * Adds the fingerprint and the analysis to the lines that report failures. If the end of the step came in an earlier batch,
 * its analysis is in the database.
 */
export async function explainReports(
  tx: Queryable,
  deploymentId: string,
  lines: readonly StoredLine[],
  failures: Failures,
): Promise<StoredLine[]> {
  const reports = lines.filter(isReport)
  if (reports.length === 0) return [...lines]
  const analyses = new Map<string, Analysis>()
  for (const [key, { finding }] of failures) analyses.set(key, finding.analysis)
  const earlier = reports.filter(({ i, a }) => !analyses.has(placeKey(i ?? 0, a ?? 0)))
  for (const [key, one] of await storedOf(tx, deploymentId, earlier)) analyses.set(key, one)
  return lines.map((line) => {
    const analysis = isReport(line) ? analyses.get(placeKey(line.i ?? 0, line.a ?? 0)) : undefined
    return analysis ? { ...line, x: { ...line.x, fingerprint: analysis.fingerprint, analysis } } : line
  })
}

async function storedOf(
  tx: Queryable,
  deploymentId: string,
  lines: readonly StoredLine[],
): Promise<Map<string, Analysis>> {
  if (lines.length === 0) return new Map()
  const steps = lines.map(({ i, a }) => ({ target_index: i ?? 0, action_index: a ?? 0 }))
  const rows = await findAnalyses.all(tx, { deployment_id: deploymentId, steps })
  return new Map(rows.map(({ target, action, analysis }) => [placeKey(target, action), analysis]))
}
