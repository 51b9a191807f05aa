import type { JoinRequest, JoinResponse } from '@slipway/contracts'
import { enqueue, eventMessage, LOST_AFTER_SECONDS, type Queryable, type RowOf } from '@slipway/database'
import { recordAudit } from '@slipway/database/audit'
import { nameKey, Problem } from '@slipway/domain'
import { constantTimeEqual, hashToken, isCompatible, SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { newCredential } from '../callers/credential.ts'
import { unauthorized } from '../callers/refusal.ts'
import type { AllowedLabels } from '../labels.sql.ts'
import { labelBeyond, labelsText } from '../labels.ts'
import * as sql from './join.sql.ts'
import { type JoinCaller, joinRecord } from './join-audit.ts'
import { setSlots } from './slots.ts'
import { MAKE_TOKEN, type Ticket } from './tickets.ts'

type NamedInstance = RowOf<typeof sql.lockNamed>

/** The permission that a ticket gives. */
interface Admission {
  allowed_labels: AllowedLabels
  tenant_id: string | null
  grant_id: string | null
  service_account: string | null
}

/**
 * Admits an instance under a free name. A name is free if no instance has it, or if an administrator has removed the instance
 * with that name. An instance with a credential does not join again; it continues with sync.
 *
 * Two callers get a name that is not free, and both begin anew: `enrolled_at` moves on, and earlier leases count as lost.
 * - A pod with the same name and service account, because a replaced pod has lost its disk.
 * - A caller that repeats a join whose answer was lost: the credential is unused, and the caller knows its join key.
 *
 * A refused join does not count as a use of the grant.
 * @throws Problem UNAUTHORIZED, FORBIDDEN, CONFLICT
 */
export async function join(
  bridge: Bridge,
  ticket: Ticket,
  request: JoinRequest,
  caller: JoinCaller,
): Promise<JoinResponse> {
  const { database, logger } = bridge
  const joined = await database.transaction(async (tx) => {
    const { name } = request
    const name_key = nameKey(name)
    await sql.lockName.run(tx, { name: name_key })
    const known = await sql.lockNamed.first(tx, { name, key: name_key })
    const isRepeated = known !== null && repeatsJoin(known, ticket, request)
    const admission =
      ticket.kind === 'grant' ? await lockGrant(tx, ticket.grant_id, isRepeated) : ofPod(bridge, ticket, request)
    requireVersion(request)
    requireLabels(admission, request)
    requireFreeName(known, ticket, request, isRepeated)
    if (admission.grant_id !== null && !isRepeated) await sql.countUse.run(tx, { id: admission.grant_id })

    const id = known?.id ?? uuidv7()
    const credential = newCredential(id)
    const { version, capacity, labels, join_key } = request
    await sql.saveInstance.run(tx, {
      id,
      name,
      name_key,
      version,
      capacity,
      labels,
      ...admission,
      credential_hash: hashToken(credential),
      join_key_hash: join_key === undefined ? null : hashToken(join_key),
    })
    await setSlots(tx, id, capacity)
    const type = known?.removed === false ? 'instance.updated' : 'instance.created'
    await enqueue(tx, [eventMessage(type, { instance_id: id, tenant_id: admission.tenant_id })])
    const details = { labels, for_tenant_id: admission.tenant_id, repeated: isRepeated }
    await recordAudit(tx, [joinRecord(ticket, request, caller, id, details)])
    return { instance_id: id, credential }
  })
  bridge.wakeRelay()
  const { name, version, capacity } = request
  logger.info('an instance joined', { instance_id: joined.instance_id, name, version, capacity, ...ticket })
  return { ...joined, lost_after_seconds: LOST_AFTER_SECONDS }
}

function repeatsJoin(known: NamedInstance, ticket: Ticket, { join_key }: JoinRequest): boolean {
  if (ticket.kind !== 'grant' || known.removed || !known.unused || known.grant_id !== ticket.grant_id) return false
  if (join_key === undefined || known.join_key_hash === null) return false
  return constantTimeEqual(hashToken(join_key), known.join_key_hash)
}

async function lockGrant(tx: Queryable, id: string, isRepeated: boolean): Promise<Admission> {
  const grant = await sql.lockGrant.first(tx, { id })
  if (grant === null) throw unauthorized(`The join token was revoked: ${MAKE_TOKEN}`)
  if (grant.expired) throw unauthorized(`The join token has expired: ${MAKE_TOKEN}`)
  if (grant.used_up && !isRepeated) {
    throw unauthorized(
      `The join token is used up: ${MAKE_TOKEN}. If you did not use it, find out who joined: slipway audit --action instance.join`,
    )
  }
  return { allowed_labels: grant.labels, tenant_id: grant.tenant_id, grant_id: id, service_account: null }
}

function ofPod(
  { serviceAccountLabels }: Bridge,
  { account, pod }: Ticket & { kind: 'service_account' },
  { name }: JoinRequest,
): Admission {
  // Otherwise a pod could take the name of another pod before that one joins.
  if (name !== pod) {
    throw new Problem('FORBIDDEN', `The token is of the pod ${pod}: set SLIPWAY_INSTANCE_NAME to the name of the pod`)
  }
  return { allowed_labels: serviceAccountLabels, tenant_id: null, grant_id: null, service_account: account }
}

function requireVersion({ name, version }: JoinRequest): void {
  if (isCompatible(version)) return
  const message = `Instance ${name} has version ${version}, Slipway has ${SLIPWAY_VERSION}: they must match in major and minor version`
  throw new Problem('CONFLICT', message, { instance_version: version, slipway_version: SLIPWAY_VERSION })
}

function requireLabels({ allowed_labels, grant_id }: Admission, { name, labels }: JoinRequest): void {
  const beyond = labelBeyond(allowed_labels, labels)
  if (beyond === undefined) return
  const giver = grant_id === null ? 'SLIPWAY_KUBERNETES_LABELS of the executor-bridge' : 'its join token'
  const advice = grant_id === null ? 'extend that setting' : 'make a join token with --label'
  throw new Problem(
    'FORBIDDEN',
    `Instance ${name} claims the label ${beyond}, and ${giver} allows ${labelsText(allowed_labels)}: ${advice}, or change SLIPWAY_INSTANCE_LABELS`,
  )
}

function requireFreeName(
  known: NamedInstance | null,
  ticket: Ticket,
  { name }: JoinRequest,
  isRepeated: boolean,
): void {
  if (known === null || known.removed || isRepeated) return
  const isSamePod = ticket.kind === 'service_account' && known.service_account === ticket.account && known.name === name
  if (isSamePod) return
  throw new Problem(
    'CONFLICT',
    `There is an instance named ${known.name}, which goes on with the credential in its own folder. If that is lost, an ` +
      `administrator releases the name with \`slipway instances delete ${known.name}\``,
  )
}
