import type { Queryable } from '@slipway/database'
import type { CommandFailureReason } from '@slipway/domain'
import { analyse } from '@slipway/domain/analysis'
import type { Answer } from '@slipway/http'
import type { Call } from '../handler.ts'
import { findResults } from './analysis.sql.ts'
import { requireVisible } from './visible-deployment.ts'

interface Result {
  status: string
  exit_code?: number
  stdout_tail?: string
  stderr_tail?: string
  error_message?: string
  failure_reason?: CommandFailureReason
  completed_at: string
  analysis?: object
}

export async function listCommandResults(
  db: Queryable,
  { caller, params }: Call<'listCommandResults'>,
): Promise<Answer> {
  const { id } = await requireVisible(db, caller, 'deployment', params['id'] ?? '')
  const { results, unexplained } = await findResults.one(db, { id })
  return { status: 200, json: unexplained ? JSON.stringify((JSON.parse(results) as Result[]).map(explained)) : results }
}

/** Analyses a failure that has no stored analysis, because its command left no result. */
function explained(result: Result): Result {
  if (result.status !== 'failed' || result.analysis !== undefined) return result
  const { exit_code = null, error_message = null, failure_reason: reason = null } = result
  const { stdout_tail = '', stderr_tail = '', completed_at } = result
  const failure = { exit_code, error_message, reason, subject: null, stdout_tail, stderr_tail }
  return { ...result, analysis: analyse(failure, completed_at).analysis }
}
