import { ADMIN_ROLE } from '@slipway/contracts'
import {
  array,
  LOCK_KEYS,
  type Queryable,
  type RowOf,
  statement,
  type Transaction,
  text,
  uuid,
} from '@slipway/database'
import { conflict, Problem, validationProblem } from '@slipway/domain'
import type { CallingUser } from '../callers/calling-user.ts'
import type { Check } from '../handler.ts'
import type { UserRecord } from './user-records.ts'

/** What a service account does not have. */
const CREDENTIALS = ['email', 'email_verified', 'password'] as const

/** A person needs an address and a password. A service account has neither. */
export const checkNewUser: Check = (body) => {
  if (body['kind'] === 'service') {
    return CREDENTIALS.filter((field) => body[field] !== undefined).map((field) => ({
      path: `/${field}`,
      message: 'must be left out: a service account has no e-mail and no password',
    }))
  }
  return (['email', 'password'] as const)
    .filter((field) => body[field] === undefined)
    .map((field) => ({ path: `/${field}`, message: 'is required', missing: field }))
}

/** @throws Problem CONFLICT if a change gives a service account an address or a password */
export function requireNoCredentials(
  user: { kind: string },
  change: { [field in (typeof CREDENTIALS)[number]]?: unknown },
): void {
  const given = CREDENTIALS.find((field) => change[field] !== undefined)
  if (user.kind !== 'service' || given === undefined) return
  throw conflict(`This is a service account, which has no ${given}: leave the field out`)
}

/** Locks roles until the end of the transaction: a role must not be deleted while it is assigned. */
const holdRoles = statement({
  name: 'gateway.users.hold-roles',
  parameters: { names: array(text) },
  row: { id: uuid, name: text, permissions: array(text) },
  sql: `SELECT id, name, coalesce(permissions, '{}') AS permissions FROM roles WHERE name = ANY (:names)
     ORDER BY id FOR SHARE`,
})

/** Serializes changes that remove an administrator: two of them must not remove the last two. */
const lockLastAdmin = statement({
  name: 'gateway.users.lock-last-admin',
  sql: `SELECT FROM pg_advisory_xact_lock(${LOCK_KEYS.lastAdmin})`,
})

export type GrantedRole = RowOf<typeof holdRoles>

/**
 * Finds roles by name and locks them until the transaction ends.
 * @throws Problem VALIDATION_ERROR that lists the unknown names
 */
export async function requireRoles(tx: Queryable, names: readonly string[]): Promise<GrantedRole[]> {
  const rows = await holdRoles.all(tx, { names })
  const known = new Set(rows.map(({ name }) => name))
  const errors = names.flatMap((name, index) =>
    known.has(name) ? [] : [{ path: `/roles/${index}`, message: 'is not the name of a role' }],
  )
  if (errors.length > 0) throw validationProblem(errors)
  return rows
}

/** @throws Problem INSUFFICIENT_PERMISSIONS if the caller lacks one of these permissions */
export function requireMayGrant(caller: CallingUser, permissions: Iterable<string>): void {
  const lacking = [...new Set(permissions)].filter((permission) => !caller.permissions.includes(permission)).sort()
  if (lacking.length === 0) return
  throw new Problem('INSUFFICIENT_PERMISSIONS', `You cannot grant permissions that you lack: ${lacking.join(', ')}`)
}

export function changesRolesOrTenant(user: UserRights, after: UserRights): boolean {
  if (after.tenant_id !== user.tenant_id) return true
  return !isSameSet(new Set(user.roles), new Set(after.roles))
}

const isSameSet = (one: Set<string>, other: Set<string>) =>
  one.size === other.size && [...one].every((element) => other.has(element))

/**
 * Requires every permission that the user has after the change. Unchanged roles count, too: in another tenant they give access
 * to other records.
 * @throws Problem INSUFFICIENT_PERMISSIONS
 */
export function requireMayGrantRights(caller: CallingUser, after: UserRights, roles: readonly GrantedRole[]): void {
  requireMayGrant(
    caller,
    roles.flatMap(({ permissions }) => permissions),
  )
  if (after.tenant_id !== null || caller.tenant_id === null) return
  throw new Problem('INSUFFICIENT_PERMISSIONS', 'Only users without tenant may remove the tenant of a user')
}

/**
 * Setting the password or e-mail of a user allows to log in as that user.
 * @throws Problem INSUFFICIENT_PERMISSIONS
 */
export function requireMayActAs(caller: CallingUser, user: UserRecord): void {
  if (user.permissions.every((permission) => caller.permissions.includes(permission))) return
  throw new Problem(
    'INSUFFICIENT_PERMISSIONS',
    'This user has permissions that you lack, so you cannot set the password or e-mail',
  )
}

/** What decides about the rights of a user. */
interface UserRights {
  kind: string
  status: string
  roles: readonly string[]
  tenant_id: string | null
}

/** @throws Problem CONFLICT if callers delete, suspend, move or demote themselves */
export function requireNoSelfDemotion(caller: CallingUser, user: UserRecord, after: UserRights | null): void {
  if (user.id !== caller.user_id) return
  if (after === null) throw conflict('You cannot delete yourself: let another administrator do it')
  const loses = user.roles.some((role) => !after.roles.includes(role))
  if (!loses && after.status === user.status && after.tenant_id === user.tenant_id) return
  throw conflict('You cannot suspend yourself, move yourself to another tenant or drop your own roles')
}

/** A service account does not count: nobody can log in to it. */
const isFullAdmin = ({ kind, status, roles, tenant_id }: UserRights) =>
  kind === 'person' && status === 'active' && tenant_id === null && roles.includes(ADMIN_ROLE)

/**
 * Without an active administrator outside of all tenants, the installation could not be administered any more.
 * @throws Problem CONFLICT
 */
export async function requireAnotherAdmin(tx: Transaction, user: UserRecord, after: UserRights | null): Promise<void> {
  if (!isFullAdmin(user) || (after !== null && isFullAdmin(after))) return
  await lockLastAdmin.run(tx)
  const prisma = await tx.prisma()
  const roles = { some: { role: { name: ADMIN_ROLE } } }
  const another = await prisma.user.findFirst({
    where: { id: { not: user.id }, kind: 'person', status: 'active', tenant_id: null, roles },
  })
  if (another === null) throw conflict('This is the last active administrator without tenant: create another one first')
}
