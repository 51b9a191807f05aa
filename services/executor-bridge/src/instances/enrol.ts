import type { EnrolRequest, EnrolResponse } from '@slipway/contracts'
import { enqueue, eventMessage, LOCK_KEYS_BY_VALUE, LOST_AFTER_SECONDS, type Queryable } from '@slipway/database'
import { constantTimeEqual, hashToken, isCompatible, SecretError, SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { newCredential } from '../http/credential.ts'
import { invalid, Refusal } from '../http/refusal.ts'
import { callbackIdentity } from './address.ts'
import { setSlots } from './slots.ts'

const HEARTBEAT_SECONDS = 5

interface Known {
  id: string
  removed: boolean
  callback_token_sealed: string
}

/**
 * Takes an instance in, or in again: a name stands for one instance. One that still has its callback token still has its
 * journal and keeps its leases. One with a new token began anew: `enrolled_at` moves on, and the leases from before
 * count as lost (see heartbeat).
 */
export async function enrol(bridge: Bridge, request: EnrolRequest): Promise<EnrolResponse> {
  refuseIncompatible(request)
  const { database, keys, logger } = bridge
  const { instanceId, credential, anew } = await database.transaction(async (tx) => {
    // Two first enrolments of one name: the second must see the first.
    await tx.query(`SELECT pg_advisory_xact_lock(${LOCK_KEYS_BY_VALUE.instanceName('$1')})`, [request.name])
    const { rows } = await tx.query<Known>(
      'SELECT id, callback_token_sealed, removed_at IS NOT NULL AS removed FROM instances WHERE name = $1 FOR UPDATE',
      [request.name],
    )
    const known = rows[0]
    const id = known?.id ?? uuidv7()
    const fresh = newCredential(id)
    const sealed = keys.seal(request.callback_token, callbackIdentity(id))
    const startsAnew = known === undefined || !keepsToken(bridge, known, request.callback_token)
    await save(tx, id, request, { credentialHash: hashToken(fresh), sealed, startsAnew })
    await setSlots(tx, id, request.capacity)
    await enqueue(tx, [
      eventMessage(known?.removed === false ? 'instance.updated' : 'instance.created', { instance_id: id }),
    ])
    return { instanceId: id, credential: fresh, anew: startsAnew }
  })
  bridge.wakeRelay()
  const { name, version, base_url, capacity } = request
  logger.info('an instance enrolled', { instance_id: instanceId, name, version, base_url, capacity, anew })
  return {
    instance_id: instanceId,
    credential,
    heartbeat_seconds: HEARTBEAT_SECONDS,
    lost_after_seconds: LOST_AFTER_SECONDS,
  }
}

function refuseIncompatible({ name, version, base_url }: EnrolRequest): void {
  if (!isCompatible(version)) {
    const message = `Instance ${name} has version ${version}, Slipway has ${SLIPWAY_VERSION}: they must match in major and minor version`
    throw new Refusal(409, 'CONFLICT', message, { instance_version: version, slipway_version: SLIPWAY_VERSION })
  }
  if (!/^https?:\/\//i.test(base_url) || !URL.canParse(base_url)) {
    throw invalid('The body is not valid, see details.errors', [
      { path: '/base_url', message: 'must begin with http:// or https://' },
    ])
  }
}

function keepsToken({ keys, logger }: Bridge, known: Known, token: string): boolean {
  try {
    return constantTimeEqual(keys.openText(known.callback_token_sealed, callbackIdentity(known.id)), token)
  } catch (error) {
    if (!(error instanceof SecretError)) throw error
    logger.warn('the callback token of an instance cannot be opened; its enrolment replaces it', {
      instance_id: known.id,
      error,
    })
    return false
  }
}

async function save(
  tx: Queryable,
  id: string,
  request: EnrolRequest,
  secrets: { credentialHash: string; sealed: string; startsAnew: boolean },
): Promise<void> {
  // An instance without leases is at work at once. One that has some says first, by a heartbeat, what became of them.
  await tx.query(
    `INSERT INTO instances AS i
       (id, name, version, base_url, capacity, labels, enrolled_labels, credential_hash, callback_token_sealed,
        enrolled_at, last_heartbeat_at)
     VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8, now(), now())
     ON CONFLICT (id) DO UPDATE SET
       version = EXCLUDED.version, base_url = EXCLUDED.base_url, capacity = EXCLUDED.capacity,
       labels = CASE WHEN i.removed_at IS NULL AND i.enrolled_labels = EXCLUDED.enrolled_labels
                     THEN i.labels ELSE EXCLUDED.labels END,
       enrolled_labels = EXCLUDED.enrolled_labels,
       draining = i.draining AND i.removed_at IS NULL,
       created_at = CASE WHEN i.removed_at IS NULL THEN i.created_at ELSE now() END, removed_at = NULL,
       credential_hash = EXCLUDED.credential_hash, callback_token_sealed = EXCLUDED.callback_token_sealed,
       enrolled_at = CASE WHEN $9 THEN now() ELSE i.enrolled_at END,
       last_heartbeat_at = CASE
         WHEN EXISTS (SELECT FROM leases l WHERE l.instance_id = i.id AND l.ended_at IS NULL) THEN i.last_heartbeat_at
         ELSE now() END`,
    [
      id,
      request.name,
      request.version,
      request.base_url.replace(/\/+$/, ''),
      request.capacity,
      JSON.stringify(request.labels),
      secrets.credentialHash,
      secrets.sealed,
      secrets.startsAnew,
    ],
  )
}
