import type { Queryable } from '@slipway/database'
import type { CommandFailureReason } from '@slipway/domain'
import { analyse } from '@slipway/domain/analysis'
import type { Answer } from '@slipway/http'
import type { Call } from '../handler.ts'
import { findResults } from './analysis.sql.ts'
import { findStepPlace } from './log-search.sql.ts'
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

const ANYWHERE = { target_index: null, action_index: null }
const ANY_PLACE = { targets: null, actions: null }

export async function listCommandResults(
  db: Queryable,
  { caller, params, query }: Call<'listCommandResults'>,
): Promise<Answer> {
  const { id } = await requireVisible(db, caller, 'deployment', params['id'] ?? '')
  const { status = null, step_id } = query
  const place = step_id === undefined ? ANYWHERE : await findStepPlace.first(db, { ...ANY_PLACE, id, step: step_id })
  if (place === null) return { status: 200, body: [] }
  const { results, unexplained } = await findResults.one(db, { id, status, ...place })
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
