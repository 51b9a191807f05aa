import { bool, nullable, PARKED, rankOf, rowSet, statement, text, timestamptz, uuid } from '@slipway/database'

/**
 * Gives pending requests the places that a round decided: in the queue, or parked. Notes that approvals were asked for. `asks_first`:
 * nobody was told before that it needs approvals. `waits_otherwise`: it waits for something else than before.
 */
export const setPlaces = statement({
  name: 'dispatcher.pending_requests.set-places',
  parameters: {
    /** `parked_for`: what a parked request waits for first; null: it is in the queue. */
    places: rowSet({ id: uuid, parked_for: nullable(text), review_at: nullable(timestamptz), needs_approval: bool }),
  },
  row: { id: uuid, tenant_id: nullable(uuid), asks_first: bool, waits_otherwise: bool },
  sql: `WITH decided AS (
      SELECT d.*, p.approval_announced AS was_announced, p.parked_for AS former
        FROM :places AS d JOIN pending_requests p ON p.id = d.id
       WHERE p.status = 'pending' ORDER BY d.id FOR UPDATE OF p
    ), placed AS (
      UPDATE pending_requests p
         SET rank = CASE WHEN d.parked_for IS NULL THEN ${rankOf('p.priority', 'p.queued_at')} ELSE ${PARKED} END,
             parked_for = d.parked_for, review_at = d.review_at, approval_announced = d.was_announced OR d.needs_approval
        FROM decided d WHERE p.id = d.id
      RETURNING p.id, p.tenant_id, p.rank, p.wants_targets, d.needs_approval AND NOT d.was_announced AS asks_first,
                d.parked_for IS DISTINCT FROM d.former AS waits_otherwise
    ), moved AS (
      UPDATE pending_targets n SET rank = placed.rank FROM placed WHERE placed.wants_targets AND n.request_id = placed.id)
    SELECT id, tenant_id, asks_first, waits_otherwise FROM placed`,
})

/** Parked requests that name these environments, or select a target of them, are judged again. */
export const reviewEnvironment = statement({
  name: 'dispatcher.pending_requests.review-environment',
  parameters: { environment_id: uuid },
  sql: `UPDATE pending_requests SET review_at = now()
     WHERE status = 'pending' AND parked_for IS NOT NULL
       AND (environment_id = :environment_id::uuid
         OR freeze_subject -> 'targets' @> jsonb_build_array(jsonb_build_object('environment_id', :environment_id::uuid::text)))`,
})

/** Parked requests that select this target are judged again. */
export const reviewTarget = statement({
  name: 'dispatcher.pending_requests.review-target',
  parameters: { target_id: uuid },
  row: { id: uuid },
  sql: `UPDATE pending_requests SET review_at = now()
     WHERE status = 'pending' AND parked_for IS NOT NULL
       AND command #> '{plan,targets}' @> jsonb_build_array(jsonb_build_object('id', :target_id::uuid::text)) RETURNING id`,
})

export const reviewRequest = statement({
  name: 'dispatcher.pending_requests.review',
  parameters: { id: uuid },
  sql: `UPDATE pending_requests SET review_at = now() WHERE id = :id AND status = 'pending'`,
})
