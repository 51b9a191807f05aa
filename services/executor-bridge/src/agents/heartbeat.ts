import type { AgentHeartbeatRequest, AgentHeartbeatResponse } from '@slipway/contracts'
import { enqueue, eventMessage } from '@slipway/database'
import type { Bridge } from '../bridge.ts'
import { AGENT_HEARTBEAT_SECONDS, refuseVersion } from './enrol.ts'

/** A target that was not seen for so long is shown as something else than online. */
const ONLINE_FOR = '90 seconds'

interface Seen {
  target_id: string
  tenant_id: string | null
  back: boolean
  moved: boolean
}

/** Notes that the agent's target is there, and where the agent is found from now on. */
export async function agentHeartbeat(
  bridge: Bridge,
  agentId: string,
  { version, host, port }: AgentHeartbeatRequest,
): Promise<AgentHeartbeatResponse> {
  refuseVersion(version)
  const seen = await bridge.database.transaction(async (tx) => {
    // The statement sees all as it was before it.
    const { rows } = await tx.query<Seen>(
      `WITH moved AS (
         UPDATE agents SET version = $2, host = $3, port = $4
         WHERE id = $1 AND (version, host, port) IS DISTINCT FROM ($2, $3, $4) RETURNING id
       ), noted AS (
         INSERT INTO target_facts (target_id, last_seen_at) SELECT target_id, now() FROM agents WHERE id = $1
         ON CONFLICT (target_id) DO UPDATE SET last_seen_at = EXCLUDED.last_seen_at
       )
       SELECT a.target_id, t.tenant_id, EXISTS (SELECT FROM moved) AS moved,
              f.last_seen_at IS NULL OR f.last_seen_at <= now() - interval '${ONLINE_FOR}' AS back
       FROM agents a
       JOIN targets t ON t.id = a.target_id
       LEFT JOIN target_facts f ON f.target_id = a.target_id
       WHERE a.id = $1`,
      [agentId, version, host, port],
    )
    const { target_id, tenant_id, back } = rows[0] ?? {}
    if (back && target_id && tenant_id !== undefined) {
      await enqueue(tx, [eventMessage('target.updated', { target_id, tenant_id })])
    }
    return rows[0]
  })
  if (seen?.back) bridge.wakeRelay()
  if (seen?.moved) {
    bridge.logger.info('an agent has moved or has another version', {
      ...{ agent_id: agentId, target_id: seen.target_id, version, host, port },
    })
  }
  return { heartbeat_seconds: AGENT_HEARTBEAT_SECONDS }
}
