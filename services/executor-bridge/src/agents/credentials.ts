import type { Bridge } from '../bridge.ts'
import { agentOf } from '../http/credential.ts'
import { unauthorized } from '../http/refusal.ts'

/** What an agent's key is sealed for. */
export const keyIdentity = (agentId: string) => `agent:${agentId}:key`

/** The agent that holds the credential. */
export async function authenticateAgent(
  bridge: Pick<Bridge, 'database'>,
  credential: string | undefined,
): Promise<string> {
  const agentId = await agentOf(bridge, credential)
  if (agentId !== undefined) return agentId
  throw unauthorized('The agent is revoked, or another has taken its place: enrol again with a new token')
}
