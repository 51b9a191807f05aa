import { constantTimeEqual, hashToken } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { idOf } from '../callers/credential.ts'
import { unauthorized } from '../callers/refusal.ts'
import { findCredential } from './agents.sql.ts'

/** The identity to which the sealed key of an agent is bound. */
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

/** The agent that holds the credential; undefined when none does. */
async function agentOf(
  { database }: Pick<Bridge, 'database'>,
  credential: string | undefined,
): Promise<string | undefined> {
  const id = idOf(credential)
  if (id === undefined) return undefined
  const known = (await findCredential.first(database, { id }))?.credential_hash
  return known !== undefined && constantTimeEqual(hashToken(String(credential)), known) ? id : undefined
}
