import { ANY_ORPHAN, bool, PARKED, statement } from '@slipway/database'

/**
 * Which parts of the dispatcher may have work. A part that needs more than this statement finds, for example to delete what is
 * old, does it at its next slow run.
 *
 * Each condition reads one entry of an index or of a small table. The scalar subquery makes Postgres look for one due delivery per
 * webhook. With EXISTS it reads all pending deliveries.
 */
export const findWork = statement({
  name: 'dispatcher.find-work',
  row: { outbox: bool, queue: bool, runs: bool, checks: bool, webhook_events: bool, deliveries: bool },
  sql: `SELECT EXISTS (SELECT FROM outbox) AS outbox,
      EXISTS (SELECT FROM pending_requests WHERE status = 'pending' AND rank < ${PARKED})
        OR EXISTS (SELECT FROM pending_requests WHERE status = 'pending' AND review_at <= now()) OR ${ANY_ORPHAN} AS queue,
      EXISTS (SELECT FROM leases WHERE ended_at IS NULL)
        OR EXISTS (SELECT FROM deployments WHERE completed_at IS NULL) AS runs,
      EXISTS (SELECT FROM release_checks WHERE run_id IS NOT NULL)
        OR EXISTS (SELECT FROM release_checks WHERE (drifted_since IS NOT NULL) <> told_drifted)
        OR EXISTS (SELECT FROM release_checks
                    WHERE run_id IS NULL AND deployment_id IS NOT NULL AND next_at <= now()) AS checks,
      EXISTS (SELECT FROM webhook_events WHERE due_at <= now()) AS webhook_events,
      EXISTS (SELECT FROM webhooks w
               WHERE w.enabled AND (SELECT true FROM webhook_deliveries d
                                     WHERE d.webhook_id = w.id AND d.status = 'pending' AND d.next_attempt_at <= now()
                                     LIMIT 1)) AS deliveries`,
})
