import type { EnrolRequest, EnrolResponse } from '@slipway/contracts'
import { enqueue, eventMessage, LOCK_KEYS_BY_VALUE, LOST_AFTER_SECONDS, type Queryable } from '@slipway/database'
import { hashToken, isCompatible, SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { newCredential } from '../http/credential.ts'
import { Refusal } from '../http/refusal.ts'
import { setSlots } from './slots.ts'

interface Known {
  id: string
  removed: boolean
}

/**
 * Takes an instance in, or in again: a name stands for one instance. An instance that enrols begins anew, without a
 * journal: `enrolled_at` moves on, and the leases from before count as lost (see sync).
 */
export async function enrol(bridge: Bridge, request: EnrolRequest): Promise<EnrolResponse> {
  refuseIncompatible(request)
  const { database, logger } = bridge
  const { instanceId, credential } = await database.transaction(async (tx) => {
    // Two first enrolments of one name: the second must see the first.
    await tx.query(`SELECT pg_advisory_xact_lock(${LOCK_KEYS_BY_VALUE.instanceName('$1')})`, [request.name])
    const { rows } = await tx.query<Known>(
      'SELECT id, removed_at IS NOT NULL AS removed FROM instances WHERE name = $1 FOR UPDATE',
      [request.name],
    )
    const known = rows[0]
    const id = known?.id ?? uuidv7()
    const fresh = newCredential(id)
    await save(tx, id, request, hashToken(fresh))
    await setSlots(tx, id, request.capacity)
    await enqueue(tx, [
      eventMessage(known?.removed === false ? 'instance.updated' : 'instance.created', { instance_id: id }),
    ])
    return { instanceId: id, credential: fresh }
  })
  bridge.wakeRelay()
  const { name, version, capacity } = request
  logger.info('an instance enrolled', { instance_id: instanceId, name, version, capacity })
  return {
    instance_id: instanceId,
    credential,
    lost_after_seconds: LOST_AFTER_SECONDS,
  }
}

function refuseIncompatible({ name, version }: EnrolRequest): void {
  if (!isCompatible(version)) {
    const message = `Instance ${name} has version ${version}, Slipway has ${SLIPWAY_VERSION}: they must match in major and minor version`
    throw new Refusal(409, 'CONFLICT', message, { instance_version: version, slipway_version: SLIPWAY_VERSION })
  }
}

async function save(tx: Queryable, id: string, request: EnrolRequest, credentialHash: string): Promise<void> {
  // An instance without leases is at work at once. Leases from before end as lost first.
  await tx.query(
    `INSERT INTO instances AS i
       (id, name, version, capacity, labels, enrolled_labels, credential_hash, enrolled_at, last_heartbeat_at)
     VALUES ($1, $2, $3, $4, $5, $5, $6, now(), now())
     ON CONFLICT (id) DO UPDATE SET
       version = EXCLUDED.version, capacity = EXCLUDED.capacity,
       labels = CASE WHEN i.removed_at IS NULL AND i.enrolled_labels = EXCLUDED.enrolled_labels
                     THEN i.labels ELSE EXCLUDED.labels END,
       enrolled_labels = EXCLUDED.enrolled_labels,
       draining = i.draining AND i.removed_at IS NULL,
       created_at = CASE WHEN i.removed_at IS NULL THEN i.created_at ELSE now() END, removed_at = NULL,
       credential_hash = EXCLUDED.credential_hash, enrolled_at = now(),
       last_heartbeat_at = CASE
         WHEN EXISTS (SELECT FROM leases l WHERE l.instance_id = i.id AND l.ended_at IS NULL) THEN i.last_heartbeat_at
         ELSE now() END`,
    [id, request.name, request.version, request.capacity, JSON.stringify(request.labels), credentialHash],
  )
}
