import { nullable, type Queryable, statement, uuid } from '@slipway/database'
import { ownSql, type Viewer } from '@slipway/database/read-models'
import { isUuid, mayEverywhere, notFound, type Permission } from '@slipway/domain'
import type { CallingUser } from '../callers/calling-user.ts'
import { requireMayTouch } from '../callers/require-may.ts'
import { TOUCHED } from './touched.sql.ts'

const parameters = { id: uuid, tenant_id: nullable(uuid) }
const row = { id: uuid, tenant_id: nullable(uuid) }

/** The record of this id, if the viewer may see it. */
const VISIBLE = {
  deployment: statement({
    name: 'gateway.deployments.find-visible',
    parameters,
    row,
    sql: `SELECT d.id, d.tenant_id FROM deployments d WHERE d.id = :id AND ${ownSql('d')}`,
  }),
  'pending request': statement({
    name: 'gateway.pending.find-visible',
    parameters,
    row,
    sql: `SELECT r.id, r.tenant_id FROM pending_requests r WHERE r.id = :id AND ${ownSql('r')}`,
  }),
}

/**
 * Requires that the caller sees a record and has the permission for what it touches.
 * @throws Problem NOT_FOUND, INSUFFICIENT_PERMISSIONS
 */
export async function requireActable(
  db: Queryable,
  caller: CallingUser,
  { kind, id, permission }: { kind: keyof typeof VISIBLE; id: string; permission: Permission },
): Promise<{ id: string; tenant_id: string | null }> {
  const found = await requireVisible(db, caller, kind, id)
  if (mayEverywhere(caller, permission)) return found
  const touched = await TOUCHED[kind].first(db, { id: found.id })
  if (touched === null) throw notFound(`The ${kind}`)
  const { environment_ids, source_type, source_id } = touched
  const object = { kind: 'deployment', environment_ids, source: { type: source_type, id: source_id } } as const
  await requireMayTouch(db, caller, permission, object)
  return found
}

/** @throws Problem NOT_FOUND, also for a record that the viewer may not see */
export async function requireVisible(
  db: Queryable,
  { tenant_id }: Viewer,
  kind: keyof typeof VISIBLE,
  id: string,
): Promise<{ id: string; tenant_id: string | null }> {
  const record = isUuid(id) ? await VISIBLE[kind].first(db, { id, tenant_id }) : null
  if (record === null) throw notFound(`The ${kind}`)
  return record
}
