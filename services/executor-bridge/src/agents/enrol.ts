import { randomBytes } from 'node:crypto'
import type { AgentEnrolRequest, AgentEnrolResponse } from '@slipway/contracts'
import { enqueue, eventMessage, type Queryable, type RowOf } from '@slipway/database'
import { Problem } from '@slipway/domain'
import { constantTimeEqual, hashToken, isSameMajor, SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { idOf, newCredential } from '../callers/credential.ts'
import { unauthorized } from '../callers/refusal.ts'
import { saveContacts } from '../targets/reached.ts'
import { findUsableGrant, lockTargetOfGrant, replaceAgent } from './agents.sql.ts'
import { keyIdentity } from './credentials.ts'

export const AGENT_HEARTBEAT_SECONDS = 30

/**
 * Enrols an agent for the target of its token, in place of the former agent. From then on the token and the credential of
 * the former agent are invalid, and runs get the new key.
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
    // After the check of the token, so that strangers learn nothing. The token stays valid for another attempt.
    refuseVersion(version)
    const { id: grant_id, target_id, tenant_id } = found
    const secrets = { key_sealed: keys.seal(key, keyIdentity(agentId)), credential_hash: hashToken(credential) }
    await replaceAgent.run(tx, { id: agentId, target_id, grant_id, host, port, version, ...secrets })
    // The event is sent in any case, so the result is not needed.
    await saveContacts(tx, null, [{ target_id, host_key: null }])
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
  throw new Problem('CONFLICT', message, { agent_version: version, slipway_version: SLIPWAY_VERSION })
}

/** The grant of the token, if it is the newest of its target, has not expired and was not used. Locks the target. */
async function usableGrant(tx: Queryable, token: string | undefined): Promise<RowOf<typeof findUsableGrant>> {
  const id = idOf(token)
  if (id !== undefined) {
    await lockTargetOfGrant.run(tx, { grant_id: id })
    const grant = await findUsableGrant.first(tx, { id })
    if (grant && constantTimeEqual(hashToken(String(token)), grant.token_hash)) return grant
  }
  throw unauthorized('The token is not valid: it was used, it has expired, or a newer one has taken its place')
}
