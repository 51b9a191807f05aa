import { connectTo } from './database.ts'

/** One statement that must find nothing, by the sentence that it would disprove. */
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
  'every step has ended': `SELECT * FROM steps WHERE state IN ('pending', 'running', 'rolling_back')`,
  'success means that steps completed': `SELECT id FROM deployments d WHERE state = 'success'
    AND NOT EXISTS (SELECT 1 FROM steps s WHERE s.deployment_id = d.id AND s.state = 'completed')`,
  'log chunks have neither gaps nor overlaps': `SELECT deployment_id, first_line FROM (
      SELECT deployment_id, first_line, lag(first_line + line_count, 1, 0::bigint)
        OVER (PARTITION BY deployment_id ORDER BY first_line) AS expected FROM log_chunks) c WHERE first_line <> expected`,
  'every executed command has one result': `SELECT s.deployment_id, s.target_index, s.action_index FROM steps s
    LEFT JOIN command_results r USING (deployment_id, target_index, action_index)
    WHERE s.state IN ('completed', 'rolled_back') AND r.deployment_id IS NULL`,
}

/**
 * What must hold when nothing runs any more, whatever happened before. Returns a sentence for each violation, so that
 * `expect(await violatedInvariants(url)).toEqual([])` says what is wrong.
 */
export async function violatedInvariants(databaseUrl: string): Promise<string[]> {
  const client = await connectTo(databaseUrl)
  try {
    const found: string[] = []
    for (const [sentence, sql] of Object.entries(VIOLATIONS)) {
      const { rows } = await client.query(sql)
      if (rows.length > 0) found.push(`not so: ${sentence} — ${JSON.stringify(rows.slice(0, 3))}`)
    }
    return found
  } finally {
    await client.end()
  }
}
