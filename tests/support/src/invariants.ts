import { setTimeout } from 'node:timers/promises'
import { createDatabase, PARKED } from '@slipway/database'
import { verifyAudit } from '@slipway/database/audit'
import { connectTo } from './database.ts'

/** Long enough for the slow tick of each service on a busy machine. The tick sends messages after a lost wake-up. */
const SETTLING_MS = 60_000

/** Selects the audit records `r` of successful calls. */
const CARRIED_OUT = `coalesce(r.details ->> 'outcome', '') NOT IN ('refused', 'failed')`

/** Tables with one audit record per created row: the table, its rows that a call created, and the audit action. */
const MADE: [table: string, made: string, action: string][] = [
  ['tenants', 'true', `'tenant.create'`],
  ['environments', 'true', `'environment.create'`],
  ['targets', 'true', `'target.create'`],
  ['sources', 'true', `t.kind || '.create'`],
  ['freezes', 'true', `'freeze.create'`],
  ['roles', 'NOT t.built_in', `'role.create'`],
  // The first administrator comes with the installation.
  ['users', 't.id <> (SELECT id FROM users ORDER BY created_at, id LIMIT 1)', `'user.create'`],
  ['api_keys', 'true', `'api_key.create'`],
  ['webhooks', 'true', `'webhook.create'`],
]

/** Each sentence is an invariant, and its statement must find no rows. docs/invariants.md has the whole list. */
const VIOLATIONS: Record<string, string> = {
  'every deployment is in a final state': `SELECT id, state FROM deployments
    WHERE state NOT IN ('success', 'failed', 'cancelled', 'rolled_back')`,
  'its history has one final entry, the last, which is its state': `
    SELECT d.id FROM deployments d JOIN LATERAL (
      SELECT count(*) FILTER (WHERE to_state IN ('success', 'failed', 'cancelled', 'rolled_back')) AS finals,
             (array_agg(to_state ORDER BY number DESC))[1] AS last,
             bool_and(number = 0 OR from_state = previous) AS connected
      FROM (SELECT *, lag(to_state) OVER (ORDER BY number) AS previous
            FROM deployment_transitions t WHERE t.deployment_id = d.id) t) h ON true
    WHERE h.finals <> 1 OR h.last <> d.state OR NOT h.connected`,
  'no request waits': `SELECT id, status FROM pending_requests WHERE status IN ('pending', 'processing')`,
  'a dispatched request has its own deployment': `SELECT id FROM pending_requests p
    WHERE status = 'dispatched' AND NOT EXISTS (SELECT 1 FROM deployments d WHERE d.id = p.deployment_id)`,
  'no lease is live and each has its reason': `SELECT epoch FROM leases WHERE ended_at IS NULL OR end_reason IS NULL`,
  'no slot was leased twice at a time': `SELECT a.epoch FROM leases a JOIN leases b
    ON a.instance_id = b.instance_id AND a.slot = b.slot AND a.epoch < b.epoch AND a.ended_at > b.acquired_at`,
  'no message is unsent': `SELECT id, type FROM outbox`,
  'no event waits to be told to webhooks': `SELECT message_id, event FROM webhook_events`,
  'every step has ended': `SELECT * FROM steps WHERE state IN ('pending', 'running', 'rolling_back')`,
  'no attempt was recorded as started after the end of its deployment': `
    SELECT s.deployment_id, s.target_index, s.action_index FROM steps s JOIN deployments d ON d.id = s.deployment_id
    WHERE GREATEST(s.started_at, s.attempt_started_at) > d.completed_at`,
  'success means that steps completed': `SELECT id FROM deployments d WHERE state = 'success'
    AND NOT EXISTS (SELECT 1 FROM steps s WHERE s.deployment_id = d.id AND s.state = 'completed')`,
  'log chunks have neither gaps nor overlaps': `SELECT deployment_id, first_line FROM (
      SELECT deployment_id, first_line, lag(first_line + line_count, 1, 0::bigint)
        OVER (PARTITION BY deployment_id ORDER BY first_line) AS expected FROM log_chunks) c WHERE first_line <> expected`,
  // What a command did whose instance was lost is unknown. Its step failed, and a rollback includes it.
  'every executed command has one result': `SELECT s.deployment_id, s.target_index, s.action_index FROM steps s
    LEFT JOIN command_results r USING (deployment_id, target_index, action_index)
    WHERE s.state IN ('completed', 'rolled_back', 'rollback_failed')
      AND s.failure_reason IS DISTINCT FROM 'instance_lost' AND r.deployment_id IS NULL`,
  'each target that a deployment touched has a release, and it is applied where every command was executed': `
    SELECT s.*, r.state FROM (
      SELECT s.deployment_id, t.target_id,
             bool_or(s.state IN ('completed', 'failed', 'rolled_back', 'rollback_failed')) AS touched,
             bool_and(s.state = 'completed'
                      OR (s.state = 'failed' AND d.plan_head #>> '{options,failure_strategy}' = 'ignore_failures')) AS applied
        FROM steps s
        JOIN deployments d ON d.id = s.deployment_id AND NOT d.is_check
        JOIN deployment_targets t ON t.deployment_id = s.deployment_id AND t.target_index = s.target_index
       GROUP BY 1, 2) s
      LEFT JOIN releases r ON r.deployment_id = s.deployment_id AND r.target_id = s.target_id
     WHERE (r.state IS NULL AND s.touched) OR r.state IN ('running', 'rolling_back') OR (r.state = 'applied') <> s.applied`,
  'in force on a target is what was applied there last and not rolled back': `
    SELECT h.target_id, h.source_id, h.current_deployment_id, h.latest_deployment_id FROM release_heads h
     WHERE h.current_deployment_id IS DISTINCT FROM (
             SELECT r.deployment_id FROM releases r
              WHERE r.target_id = h.target_id AND r.source_id = h.source_id AND r.state = 'applied'
              ORDER BY r.ended_at DESC, r.deployment_id DESC LIMIT 1)
        OR NOT EXISTS (SELECT FROM releases r WHERE r.target_id = h.target_id AND r.source_id = h.source_id)
    UNION ALL
    SELECT r.target_id, r.source_id, NULL, NULL FROM releases r
     WHERE NOT EXISTS (SELECT FROM release_heads h WHERE h.target_id = r.target_id AND h.source_id = r.source_id)`,
  'a request has a place in the queue or is parked, and its targets have the same place': `
    SELECT p.id FROM pending_requests p
     WHERE p.status = 'pending' AND (p.parked_for IS NOT NULL) <> (p.rank = ${PARKED})
    UNION ALL
    SELECT n.request_id FROM pending_targets n JOIN pending_requests p ON p.id = n.request_id
     WHERE p.status = 'pending' AND n.rank <> p.rank`,
  'what a check found belongs to the deployment in force, and no check waits for a run that has ended': `
    SELECT c.* FROM release_checks c
      JOIN release_heads h ON h.target_id = c.target_id AND h.source_id = c.source_id
      LEFT JOIN deployments d ON d.id = c.run_id
     WHERE c.deployment_id <> h.current_deployment_id
        OR (c.run_id IS NOT NULL AND (d.id IS NULL OR d.completed_at IS NOT NULL))
        OR (c.deployment_id IS NULL AND c.drifted_since IS NOT NULL)
        OR (c.drifted_since IS NOT NULL) <> c.told_drifted`,
  'the counts of lists equal the deployments': `
    SELECT c.state, c.count, d.count AS deployments
      FROM (SELECT state, sum(count) AS count FROM deployment_counts GROUP BY 1 HAVING sum(count) <> 0) c
      FULL JOIN (SELECT state, count(*) AS count FROM deployments WHERE NOT is_check GROUP BY 1) d ON d.state = c.state
     WHERE c.count IS DISTINCT FROM d.count`,
  'no two deployments held a target at a time, and no lock outlives the part of its deployment': `
    SELECT k.target_id, k.deployment_id FROM target_locks k JOIN deployments d ON d.id = k.deployment_id
     WHERE d.completed_at IS NOT NULL AND NOT EXISTS (
       SELECT FROM leases l WHERE l.epoch = k.epoch AND l.end_reason IN ('cancelled', 'overdue') AND l.stopped_at IS NULL)
    UNION ALL SELECT n.target_id, n.request_id FROM pending_targets n
     WHERE NOT EXISTS (SELECT FROM pending_requests p WHERE p.id = n.request_id AND p.status = 'pending')`,
  'each deployment that a call started and each request that one queued has one audit record': `
    SELECT id, records FROM (
      SELECT c.id, (SELECT count(*) FROM audit_records r WHERE r.resource_id = c.id::text AND ${CARRIED_OUT}
                     AND r.action IN ('deployment.create', 'deployment.redeploy')) AS records
      FROM (SELECT id FROM deployments d
             WHERE NOT d.is_check AND NOT EXISTS (SELECT FROM pending_requests p WHERE p.deployment_id = d.id)
            UNION SELECT id FROM pending_requests) c) counted
    WHERE records <> 1`,
  'nothing was recorded as started or queued that is not there': `SELECT r.number, r.resource_id FROM audit_records r
    WHERE r.action IN ('deployment.create', 'deployment.redeploy') AND ${CARRIED_OUT}
      AND NOT EXISTS (SELECT FROM deployments d WHERE d.id::text = r.resource_id)
      AND NOT EXISTS (SELECT FROM pending_requests p WHERE p.id::text = r.resource_id)`,
  'what was cancelled has one audit record of that, and nothing else has': `
    SELECT * FROM (
      SELECT id, state = 'cancelled' AS cancelled, 'deployment.cancel' AS action FROM deployments
      UNION ALL SELECT id, status = 'cancelled',
        CASE WHEN superseded_by IS NULL THEN 'pending_request.cancel' ELSE 'pending_request.supersede' END
        FROM pending_requests) c
    WHERE c.cancelled::int <> (SELECT count(*) FROM audit_records r
                                WHERE r.resource_id = c.id::text AND r.action = c.action AND ${CARRIED_OUT})`,
  ...Object.fromEntries(
    MADE.map(([table, made, action]) => [
      `each of the ${table} that a call made has one audit record`,
      `SELECT t.id FROM ${table} t WHERE ${made} AND 1 <> (SELECT count(*) FROM audit_records r
        WHERE r.resource_id = t.id::text AND r.action = ${action} AND ${CARRIED_OUT})`,
    ]),
  ),
  'each version but the first has one audit record': `SELECT s.id FROM sources s
    WHERE (SELECT count(*) - 1 FROM source_versions v WHERE v.source_id = s.id)
       <> (SELECT count(*) FROM audit_records r
            WHERE r.resource_id = s.id::text AND r.action = s.kind || '.publish' AND ${CARRIED_OUT})`,
}

/** The findings of the check of the audit chain. */
async function brokenChain(databaseUrl: string): Promise<string[]> {
  const database = createDatabase({ url: databaseUrl, applicationName: 'invariants', max: 1, tenant: '*' })
  try {
    const { findings } = await verifyAudit(database)
    return findings.map((finding) => `not so: the chain of audit records verifies — ${JSON.stringify(finding)}`)
  } finally {
    await database.close()
  }
}

async function violations(databaseUrl: string): Promise<string[]> {
  const client = await connectTo(databaseUrl)
  try {
    const found: string[] = []
    for (const [sentence, sql] of Object.entries(VIOLATIONS)) {
      const { rows } = await client.query(sql)
      if (rows.length > 0) found.push(`not so: ${sentence} — ${JSON.stringify(rows.slice(0, 3))}`)
    }
    return [...found, ...(await brokenChain(databaseUrl))]
  } finally {
    await client.end()
  }
}

/**
 * Checks the invariants that must hold when no deployment runs. Returns a sentence for each violation, so that
 * `expect(await violatedInvariants(url)).toEqual([])` says what is wrong. Waits up to `settlingMs` for invariants that do not
 * hold yet, because a deployment ends before the messages about its end are sent.
 */
export async function violatedInvariants(databaseUrl: string, settlingMs = SETTLING_MS): Promise<string[]> {
  const deadline = Date.now() + settlingMs
  for (;;) {
    const found = await violations(databaseUrl)
    if (found.length === 0 || Date.now() > deadline) return found
    await setTimeout(500)
  }
}
