import { constantTimeEqual, hashToken, randomToken } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { unauthorized } from '../http/refusal.ts'

const PARTS = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.[A-Za-z0-9_-]{43}$/

/** The id in a credential of an agent or in a token of a grant, by which the one row is found. */
export const idOf = (credential: string | undefined): string | undefined => PARTS.exec(credential ?? '')?.[1]

/** Only its hash is kept. */
export const newAgentCredential = (agentId: string) => `${agentId}.${randomToken(32)}`

/** What an agent's key is sealed for. */
export const keyIdentity = (agentId: string) => `agent:${agentId}:key`

/** The agent that holds the credential. */
export async function authenticateAgent(
  { database }: Pick<Bridge, 'database'>,
  credential: string | undefined,
): Promise<string> {
  const agentId = idOf(credential)
  if (agentId !== undefined) {
    const { rows } = await database.query<{ credential_hash: string }>(
      'SELECT credential_hash FROM agents WHERE id = $1',
      [agentId],
    )
    const known = rows[0]?.credential_hash
    if (known !== undefined && constantTimeEqual(hashToken(String(credential)), known)) return agentId
  }
  throw unauthorized('The agent is revoked, or another has taken its place: enrol again with a new token')
}
