import type { Queryable } from '@slipway/database'

interface Failures {
  /** Commands that failed, and on how many targets. */
  failures: number
  targets: number
  /** How many of them failed in the commonest way, why, and where that came first. */
  alike: number
  reason: string | null
  place: string
}

const REASON_CHARACTERS = 600

/**
 * Why a deployment failed, in a sentence: what its instance told, which is its first failure or that its time was over; where
 * several targets failed, the commonest kind of failure.
 */
export async function failureOf(tx: Queryable, deploymentId: string, told: string | null): Promise<string> {
  // Out of time, the commands that were killed for it are no reason.
  if (told?.startsWith('The deployment ')) return told
  const found = await commonest(tx, deploymentId)
  if (!found) return told ?? 'No command was completed'
  const { failures, targets, alike, reason, place } = found
  if (targets > 1) return `${alike} of ${failures} failures: ${reason ?? 'no reason is known'}; the first was ${place}`
  return told ?? `${place} failed${reason === null ? '' : `: ${reason}`}`
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
                      ELSE first.error_message END, ${REASON_CHARACTERS}) AS reason,
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
