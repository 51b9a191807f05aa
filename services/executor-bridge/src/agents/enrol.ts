import { randomBytes } from 'node:crypto'
import type { AgentEnrolRequest, AgentEnrolResponse } from '@slipway/contracts'
import { enqueue, eventMessage, type Queryable } from '@slipway/database'
import { constantTimeEqual, hashToken, isSameMajor, SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { idOf, newCredential } from '../callers/credential.ts'
import { Refusal, unauthorized } from '../callers/refusal.ts'
import { noteReached } from '../targets/reached.ts'
import { keyIdentity } from './credentials.ts'

export const AGENT_HEARTBEAT_SECONDS = 30

interface Grant {
  id: string
  target_id: string
  target_name: string
  tenant_id: string | null
}

/**
 * Takes an agent in for the target of its token, in place of the one that was there: from then on neither the token nor
 * the former agent's credential is good, and runs are given the new key.
 */
export async function enrolAgent(
  bridge: Bridge,
  token: string | undefined,
  request: AgentEnrolRequest,
): Promise<AgentEnrolResponse> {
  const { database, keys, logger } = bridge
  const agentId = uuidv7()
  const key = randomBytes(32)
  const credential = newCredential(agentId)
  const { version, host, port } = request
  const grant = await database.transaction(async (tx) => {
    const found = await usableGrant(tx, token)
    // After the token: what is not known to be an agent is told nothing. It may come again with it.
    refuseVersion(version)
    await tx.query(
      `INSERT INTO agents (id, target_id, grant_id, host, port, version, key_sealed, credential_hash)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
       ON CONFLICT (target_id) DO UPDATE SET
         id = EXCLUDED.id, grant_id = EXCLUDED.grant_id, host = EXCLUDED.host, port = EXCLUDED.port,
         version = EXCLUDED.version, key_sealed = EXCLUDED.key_sealed, credential_hash = EXCLUDED.credential_hash,
         enrolled_at = now()`,
      [
        ...[agentId, found.target_id, found.id, host, port, version],
        ...[keys.seal(key, keyIdentity(agentId)), hashToken(credential)],
      ],
    )
    const { target_id, tenant_id } = found
    // Told of in any case.
    await noteReached(tx, [{ target_id, host_key: null }])
    await enqueue(tx, [eventMessage('target.updated', { target_id, tenant_id })])
    return found
  })
  bridge.wakeRelay()
  logger.info('an agent enrolled', { agent_id: agentId, target_id: grant.target_id, version, host, port })
  return {
    agent_id: agentId,
    target_name: grant.target_name,
    key: key.toString('base64'),
    credential,
    heartbeat_seconds: AGENT_HEARTBEAT_SECONDS,
  }
}

export function refuseVersion(version: string): void {
  if (isSameMajor(version)) return
  const message = `Version ${version} of the agent does not fit Slipway ${SLIPWAY_VERSION}: they must match in the major version`
  throw new Refusal(409, 'CONFLICT', message, { agent_version: version, slipway_version: SLIPWAY_VERSION })
}

/** The newest grant of its target, as long as it lives and nobody has used it; locked. */
async function usableGrant(tx: Queryable, token: string | undefined): Promise<Grant> {
  const id = idOf(token)
  if (id !== undefined) {
    // The target first, as everybody else does.
    await tx.query(
      'SELECT FROM targets WHERE id = (SELECT target_id FROM agent_grants WHERE id = $1) FOR NO KEY UPDATE',
      [id],
    )
    const { rows } = await tx.query<Grant & { token_hash: string }>(
      `SELECT g.id, g.target_id, g.token_hash, t.name AS target_name, t.tenant_id
       FROM agent_grants g JOIN targets t ON t.id = g.target_id
       WHERE g.id = $1 AND g.expires_at > now() AND t.connection ->> 'type' = 'agent'
         AND NOT EXISTS (SELECT FROM agents a WHERE a.grant_id = g.id)
         AND NOT EXISTS (SELECT FROM agent_grants n WHERE n.target_id = g.target_id AND n.created_at > g.created_at)`,
      [id],
    )
    const grant = rows[0]
    if (grant && constantTimeEqual(hashToken(String(token)), grant.token_hash)) return grant
  }
  throw unauthorized('The token is not valid: it was used, it has expired, or a newer one has taken its place')
}
