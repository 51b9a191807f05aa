import { recordAudit } from '@slipway/audit'
import type { JoinRequest, JoinResponse } from '@slipway/contracts'
import { enqueue, eventMessage, LOCK_KEYS_BY_VALUE, type Queryable } from '@slipway/database'
import { constantTimeEqual, hashToken, isCompatible, SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import { LOST_AFTER_SECONDS } from '@slipway/views'
import type { Bridge } from '../bridge.ts'
import { newCredential } from '../callers/credential.ts'
import { Refusal, unauthorized } from '../callers/refusal.ts'
import { type AllowedLabels, labelBeyond, labelsText } from '../labels.ts'
import { type JoinCaller, joinRecord } from './join-audit.ts'
import { setSlots } from './slots.ts'
import { MAKE_TOKEN, type Ticket } from './tickets.ts'

/** The row of the name that the caller wants. */
interface NamedInstance {
  id: string
  removed: boolean
  /** The credential of its join was not used yet. */
  unused: boolean
  grant_id: string | null
  service_account: string | null
  join_key_hash: string | null
}

/** What a ticket permits. */
interface Admission {
  allowed_labels: AllowedLabels
  tenant_id: string | null
  grant_id: string | null
  service_account: string | null
}

/**
 * Lets an instance in, under a name that is free. A name is free when no instance has it, or when an administrator has
 * removed the one that had it. An instance that has a credential does not join again: it goes on with sync.
 *
 * Two callers get a name that exists, and both begin anew: `enrolled_at` moves on, and leases from before count as lost.
 * - A pod with the same name and service account, because a pod that was replaced has lost its disk.
 * - The caller of the same join, whose answer was lost: the credential was not used yet, and the caller knows its join key.
 *
 * Nothing of the ticket is used up when the join is refused.
 * @throws Refusal 401, 403, 409
 */
export async function join(
  bridge: Bridge,
  ticket: Ticket,
  request: JoinRequest,
  caller: JoinCaller,
): Promise<JoinResponse> {
  const { database, logger } = bridge
  const joined = await database.transaction(async (tx) => {
    // Of two joins under one name, the second must see the first.
    await tx.query(`SELECT pg_advisory_xact_lock(${LOCK_KEYS_BY_VALUE.instanceName('$1')})`, [request.name])
    const known = await lockKnown(tx, request.name)
    const isRepeated = known !== undefined && repeatsJoin(known, ticket, request)
    const admission =
      ticket.kind === 'grant' ? await lockGrant(tx, ticket.grant_id, isRepeated) : ofPod(bridge, ticket, request)
    requireVersion(request)
    requireLabels(admission, request)
    requireFreeName(known, ticket, request, isRepeated)
    if (admission.grant_id !== null && !isRepeated) await countUse(tx, admission.grant_id)

    const id = known?.id ?? uuidv7()
    const credential = newCredential(id)
    await save(tx, id, request, admission, credential)
    await setSlots(tx, id, request.capacity)
    const type = known?.removed === false ? 'instance.updated' : 'instance.created'
    await enqueue(tx, [eventMessage(type, { instance_id: id, tenant_id: admission.tenant_id })])
    const { labels } = request
    const details = { labels, for_tenant_id: admission.tenant_id, repeated: isRepeated }
    await recordAudit(tx, [joinRecord(ticket, request, caller, id, details)])
    return { instance_id: id, credential }
  })
  bridge.wakeRelay()
  const { name, version, capacity } = request
  logger.info('an instance joined', { instance_id: joined.instance_id, name, version, capacity, ...ticket })
  return { ...joined, lost_after_seconds: LOST_AFTER_SECONDS }
}

async function lockKnown(tx: Queryable, name: string): Promise<NamedInstance | undefined> {
  const { rows } = await tx.query<NamedInstance>(
    `SELECT id, removed_at IS NOT NULL AS removed, credential_hash = '' AS unused, grant_id, service_account, join_key_hash
       FROM instances WHERE name = $1 FOR UPDATE`,
    [name],
  )
  return rows[0]
}

function repeatsJoin(known: NamedInstance, ticket: Ticket, { join_key }: JoinRequest): boolean {
  if (ticket.kind !== 'grant' || known.removed || !known.unused || known.grant_id !== ticket.grant_id) return false
  if (join_key === undefined || known.join_key_hash === null) return false
  return constantTimeEqual(hashToken(join_key), known.join_key_hash)
}

interface Grant {
  labels: AllowedLabels
  tenant_id: string | null
  expired: boolean
  used_up: boolean
}

/** Locks the grant, so that of two joins with its last use the second sees the first. */
async function lockGrant(tx: Queryable, id: string, isRepeated: boolean): Promise<Admission> {
  const { rows } = await tx.query<Grant>(
    `SELECT labels, tenant_id, expires_at <= now() AS expired, used >= uses AS used_up
       FROM instance_grants WHERE id = $1 FOR UPDATE`,
    [id],
  )
  const [grant] = rows
  if (grant === undefined) throw unauthorized(`The join token was revoked: ${MAKE_TOKEN}`)
  if (grant.expired) throw unauthorized(`The join token has expired: ${MAKE_TOKEN}`)
  if (grant.used_up && !isRepeated) {
    throw unauthorized(
      `The join token is used up: ${MAKE_TOKEN}. If you did not use it, find out who joined: slipway audit --action instance.join`,
    )
  }
  return { allowed_labels: grant.labels, tenant_id: grant.tenant_id, grant_id: id, service_account: null }
}

const countUse = (tx: Queryable, id: string) =>
  tx.query('UPDATE instance_grants SET used = used + 1 WHERE id = $1', [id])

function ofPod(
  { serviceAccountLabels }: Bridge,
  { account, pod }: Ticket & { kind: 'service_account' },
  { name }: JoinRequest,
): Admission {
  // Otherwise one pod could take the name of another one before that one joins.
  if (name !== pod) {
    throw new Refusal(
      403,
      'FORBIDDEN',
      `The token is of the pod ${pod}: set SLIPWAY_INSTANCE_NAME to the name of the pod`,
    )
  }
  return { allowed_labels: serviceAccountLabels, tenant_id: null, grant_id: null, service_account: account }
}

function requireVersion({ name, version }: JoinRequest): void {
  if (isCompatible(version)) return
  const message = `Instance ${name} has version ${version}, Slipway has ${SLIPWAY_VERSION}: they must match in major and minor version`
  throw new Refusal(409, 'CONFLICT', message, { instance_version: version, slipway_version: SLIPWAY_VERSION })
}

function requireLabels({ allowed_labels, grant_id }: Admission, { name, labels }: JoinRequest): void {
  const beyond = labelBeyond(allowed_labels, labels)
  if (beyond === undefined) return
  const giver = grant_id === null ? 'SLIPWAY_KUBERNETES_LABELS of the executor-bridge' : 'its join token'
  const advice = grant_id === null ? 'extend that setting' : 'make a join token with --label'
  throw new Refusal(
    403,
    'FORBIDDEN',
    `Instance ${name} claims the label ${beyond}, and ${giver} allows ${labelsText(allowed_labels)}: ${advice}, or change SLIPWAY_INSTANCE_LABELS`,
  )
}

function requireFreeName(
  known: NamedInstance | undefined,
  ticket: Ticket,
  { name }: JoinRequest,
  isRepeated: boolean,
): void {
  if (known === undefined || known.removed || isRepeated) return
  if (ticket.kind === 'service_account' && known.service_account === ticket.account) return
  throw new Refusal(
    409,
    'CONFLICT',
    `There is an instance named ${name}, which goes on with the credential in its own folder. If that is lost, an ` +
      `administrator releases the name with \`slipway instances remove ${name}\``,
  )
}

async function save(
  tx: Queryable,
  id: string,
  { name, version, capacity, labels, join_key }: JoinRequest,
  { allowed_labels, tenant_id, grant_id, service_account }: Admission,
  credential: string,
): Promise<void> {
  // The credential counts as current when it is first used. Until then the same join can be repeated.
  // Without a heartbeat an instance is given nothing. One with leases from before keeps the time by which these end.
  await tx.query(
    `INSERT INTO instances AS i
       (id, name, version, capacity, labels, enrolled_labels, allowed_labels, tenant_id, grant_id, service_account,
        credential_hash, next_credential_hash, join_key_hash, enrolled_at)
     VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, '', $10, $11, now())
     ON CONFLICT (id) DO UPDATE SET
       version = EXCLUDED.version, capacity = EXCLUDED.capacity,
       labels = CASE WHEN i.removed_at IS NULL AND i.enrolled_labels = EXCLUDED.enrolled_labels
                     THEN i.labels ELSE EXCLUDED.labels END,
       enrolled_labels = EXCLUDED.enrolled_labels, allowed_labels = EXCLUDED.allowed_labels,
       tenant_id = EXCLUDED.tenant_id, grant_id = EXCLUDED.grant_id, service_account = EXCLUDED.service_account,
       draining = i.draining AND i.removed_at IS NULL,
       created_at = CASE WHEN i.removed_at IS NULL THEN i.created_at ELSE now() END, removed_at = NULL,
       credential_hash = '', next_credential_hash = EXCLUDED.next_credential_hash,
       former_credential_hash = NULL, former_credential_until = NULL, join_key_hash = EXCLUDED.join_key_hash,
       enrolled_at = now(),
       last_heartbeat_at = CASE
         WHEN EXISTS (SELECT FROM leases l WHERE l.instance_id = i.id AND l.ended_at IS NULL) THEN i.last_heartbeat_at
       END`,
    [
      ...[id, name, version, capacity, JSON.stringify(labels)],
      ...[JSON.stringify(allowed_labels), tenant_id, grant_id, service_account],
      ...[hashToken(credential), join_key === undefined ? null : hashToken(join_key)],
    ],
  )
}
