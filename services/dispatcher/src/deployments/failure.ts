import type { EventBody } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'

interface Failures {
  /** How many commands failed, and on how many targets. */
  failures: number
  targets: number
  /** How many commands failed in the most frequent way, with which error, and where first. */
  alike: number
  error: string | null
  place: string
}

const ERROR_CHARACTERS = 600

/**
 * Explains in one sentence why a deployment failed. If commands failed on several targets, the sentence names the most
 * frequent kind of failure. Otherwise it is the message of the instance.
 */
export async function failureOf(
  tx: Queryable,
  { deployment_id, reason, error_message: told }: EventBody<'run.finished'>,
): Promise<string> {
  // Commands may have failed because the run ended: a timeout kills what runs. Such failures explain nothing.
  if (told !== null && (reason ?? 'command_failed') !== 'command_failed') return told
  const found = await commonest(tx, deployment_id)
  if (!found) return told ?? 'No command was completed'
  const { failures, targets, alike, error, place } = found
  if (targets > 1) return `${alike} of ${failures} failures: ${error ?? 'no reason is known'}; the first was ${place}`
  return told ?? `${place} failed${error === null ? '' : `: ${error}`}`
}

async function commonest(tx: Queryable, deploymentId: string): Promise<Failures | undefined> {
  const { rows } = await tx.query<Failures>(
    `WITH failed AS (
       SELECT s.target_index, s.action_index, s.completed_at, s.error_message, r.analysis,
              coalesce(r.analysis ->> 'fingerprint', s.error_message, '') AS kind
         FROM steps s
         LEFT JOIN command_results r ON r.deployment_id = s.deployment_id AND r.target_index = s.target_index
                                    AND r.action_index = s.action_index AND r.status = 'failed'
        WHERE s.deployment_id = $1 AND s.ever_failed
     ), totals AS (
       SELECT count(*)::int AS failures, count(DISTINCT target_index)::int AS targets FROM failed
     ), first AS (
       SELECT DISTINCT ON (kind) *, count(*) OVER (PARTITION BY kind)::int AS alike
         FROM failed ORDER BY kind, completed_at, target_index, action_index
     )
     SELECT totals.failures, totals.targets, first.alike,
            left(CASE WHEN totals.targets > 1 THEN coalesce(first.analysis ->> 'summary', first.error_message)
                      ELSE first.error_message END, ${ERROR_CHARACTERS}) AS error,
            a.action_name || ' on ' || t.target_name AS place
       FROM first
       CROSS JOIN totals
       JOIN deployment_actions a ON a.deployment_id = $1 AND a.action_index = first.action_index
       JOIN deployment_targets t ON t.deployment_id = $1 AND t.target_index = first.target_index
      ORDER BY CASE WHEN totals.targets > 1 THEN first.alike END DESC NULLS LAST,
               first.completed_at, first.target_index, first.action_index
      LIMIT 1`,
    [deploymentId],
  )
  return rows[0]
}
