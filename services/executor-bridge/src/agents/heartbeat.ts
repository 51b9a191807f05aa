import type { AgentHeartbeatRequest, AgentHeartbeatResponse } from '@slipway/contracts'
import { enqueue } from '@slipway/database'
import type { Bridge } from '../bridge.ts'
import { noteReached } from '../targets/reached.ts'
import { AGENT_HEARTBEAT_SECONDS, refuseVersion } from './enrol.ts'

/** Notes that the agent's target is there, and where the agent is found from now on. */
export async function agentHeartbeat(
  bridge: Bridge,
  agentId: string,
  { version, host, port }: AgentHeartbeatRequest,
): Promise<AgentHeartbeatResponse> {
  refuseVersion(version)
  const { messages, moved } = await bridge.database.transaction(async (tx) => {
    const { rows } = await tx.query<{ target_id: string; moved: boolean }>(
      `WITH moved AS (
         UPDATE agents SET version = $2, host = $3, port = $4
         WHERE id = $1 AND (version, host, port) IS DISTINCT FROM ($2, $3, $4) RETURNING id
       )
       SELECT target_id, EXISTS (SELECT FROM moved) AS moved FROM agents WHERE id = $1`,
      [agentId, version, host, port],
    )
    const messages = await noteReached(
      tx,
      rows.map(({ target_id }) => ({ target_id, host_key: null })),
    )
    await enqueue(tx, messages)
    return { messages, moved: rows[0]?.moved ?? false }
  })
  if (messages.length > 0) bridge.wakeRelay()
  if (moved) {
    bridge.logger.info('an agent has moved or has another version', { agent_id: agentId, version, host, port })
  }
  return { heartbeat_seconds: AGENT_HEARTBEAT_SECONDS }
}
