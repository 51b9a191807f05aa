import { array, bool, nullable, PARKED, rankOf, rowSet, statement, text, timestamptz, uuid } from '@slipway/database'

/**
 * Gives pending requests the places that a round decided: in the queue, or parked. Notes that approvals were asked for. `asks_first`:
 * nobody was told before that it needs approvals. `waits_otherwise`: it waits for something else than before.
 */
export const setPlaces = statement({
  name: 'dispatcher.pending-requests.set-places',
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

/** Requests that name this environment, or select a target of it, are judged again: also those of the queue, which may be parked now. */
export const reviewEnvironment = statement({
  name: 'dispatcher.pending-requests.review-environment',
  parameters: { environment_id: uuid },
  sql: `UPDATE pending_requests SET review_at = now()
     WHERE status = 'pending'
       AND (environment_id = :environment_id::uuid
         OR freeze_subject -> 'targets' @> jsonb_build_array(jsonb_build_object('environment_id', :environment_id::uuid::text)))`,
})

/** Requests that select this target. Reads every plan that waits, so call it without the lock of admission. */
export const findSelecting = statement({
  name: 'dispatcher.pending-requests.find-selecting',
  parameters: { target_id: uuid },
  row: { id: uuid },
  sql: `SELECT id FROM pending_requests
     WHERE status = 'pending'
       AND command #> '{plan,targets}' @> jsonb_build_array(jsonb_build_object('id', :target_id::uuid::text))`,
})

export const reviewRequests = statement({
  name: 'dispatcher.pending-requests.review-all',
  parameters: { ids: array(uuid) },
  sql: `UPDATE pending_requests SET review_at = now() WHERE id = ANY (:ids) AND status = 'pending'`,
})

/** A promotion that was missing while a freeze was in force is judged again when freezes change. */
export const reviewPromotions = statement({
  name: 'dispatcher.pending-requests.review-promotions',
  sql: `UPDATE pending_requests SET review_at = now() WHERE status = 'pending' AND parked_for = 'promotion'`,
})

export const reviewRequest = statement({
  name: 'dispatcher.pending-requests.review',
  parameters: { id: uuid },
  sql: `UPDATE pending_requests SET review_at = now() WHERE id = :id AND status = 'pending'`,
})
