import type { AgentHeartbeatRequest, AgentHeartbeatResponse } from '@slipway/contracts'
import { enqueue } from '@slipway/database'
import type { Bridge } from '../bridge.ts'
import { saveContacts } from '../targets/reached.ts'
import { noteAgent } from './agents.sql.ts'
import { AGENT_HEARTBEAT_SECONDS, refuseVersion } from './enrol.ts'

/** Notes that the target was reached, and the address and version of its agent. */
export async function agentHeartbeat(
  bridge: Bridge,
  agentId: string,
  { version, host, port }: AgentHeartbeatRequest,
): Promise<AgentHeartbeatResponse> {
  refuseVersion(version)
  const { messages, moved } = await bridge.database.transaction(async (tx) => {
    const agent = await noteAgent.first(tx, { id: agentId, version, host, port })
    const messages = agent ? await saveContacts(tx, null, [{ target_id: agent.target_id, host_key: null }]) : []
    await enqueue(tx, messages)
    return { messages, moved: agent?.moved ?? false }
  })
  if (messages.length > 0) bridge.wakeRelay()
  if (moved) {
    bridge.logger.info('an agent has moved or has another version', { agent_id: agentId, version, host, port })
  }
  return { heartbeat_seconds: AGENT_HEARTBEAT_SECONDS }
}
