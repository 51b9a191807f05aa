import { ADMIN_ROLE } from '@slipway/contracts'
import type { PrismaTransaction, Queryable, RowOf } from '@slipway/database'
import { conflict, Problem, validationProblem } from '@slipway/domain'
import type { CallingUser } from '../callers/calling-user.ts'
import type { UserRecord } from './user-records.ts'
import { holdRoles, lockLastAdmin } from './user-rules.sql.ts'

export type GrantedRole = RowOf<typeof holdRoles>

/**
 * The roles of these names, held until the transaction ends.
 * @throws Problem VALIDATION_ERROR with every name that is none
 */
export async function rolesNamed(tx: Queryable, names: readonly string[]): Promise<GrantedRole[]> {
  const rows = await holdRoles.all(tx, { names })
  const known = new Set(rows.map(({ name }) => name))
  const errors = names.flatMap((name, index) =>
    known.has(name) ? [] : [{ path: `/roles/${index}`, message: 'is not the name of a role' }],
  )
  if (errors.length > 0) throw validationProblem(errors)
  return rows
}

/** @throws Problem INSUFFICIENT_PERMISSIONS when the caller lacks one of these permissions */
export function requireMayGive(caller: CallingUser, permissions: Iterable<string>): void {
  const lacking = [...new Set(permissions)].filter((permission) => !caller.permissions.includes(permission)).sort()
  if (lacking.length === 0) return
  throw new Problem('INSUFFICIENT_PERMISSIONS', `You cannot give permissions that you lack: ${lacking.join(', ')}`)
}

/** Whether a change gives a user other roles or another tenant. */
export function changesReach(user: Standing, after: Standing): boolean {
  if (after.tenant_id !== user.tenant_id) return true
  return !isSameSet(new Set(user.roles), new Set(after.roles))
}

const isSameSet = (one: Set<string>, other: Set<string>) =>
  one.size === other.size && [...one].every((element) => other.has(element))

/**
 * A change of roles or tenant needs every permission of the result. Roles that stay count too: with another tenant the
 * same permissions reach other records.
 * @throws Problem INSUFFICIENT_PERMISSIONS
 */
export function requireMayGiveReach(caller: CallingUser, after: Standing, roles: readonly GrantedRole[]): void {
  requireMayGive(
    caller,
    roles.flatMap(({ permissions }) => permissions),
  )
  if (after.tenant_id !== null || caller.tenant_id === null) return
  throw new Problem('INSUFFICIENT_PERMISSIONS', 'Only users who are bound to no tenant may release others from theirs')
}

/**
 * Whoever sets the password or the address of a user can act as that user.
 * @throws Problem INSUFFICIENT_PERMISSIONS
 */
export function requireMayActAs(caller: CallingUser, user: UserRecord): void {
  if (user.permissions.every((permission) => caller.permissions.includes(permission))) return
  throw new Problem(
    'INSUFFICIENT_PERMISSIONS',
    'This user may do more than you: you cannot set their password or e-mail',
  )
}

/** What would become of a user. */
export interface Standing {
  status: string
  roles: readonly string[]
  tenant_id: string | null
}

/** @throws Problem CONFLICT where callers take something from themselves */
export function requireNotFromOneself(caller: CallingUser, user: UserRecord, after: Standing | null): void {
  if (user.id !== caller.user_id) return
  if (after === null) throw conflict('You cannot delete yourself: let another administrator do it')
  const loses = user.roles.some((role) => !after.roles.includes(role))
  if (!loses && after.status === user.status && after.tenant_id === user.tenant_id) return
  throw conflict('You cannot suspend yourself, move yourself to another tenant or drop your own roles')
}

const administers = ({ status, roles, tenant_id }: Standing) =>
  status === 'active' && tenant_id === null && roles.includes(ADMIN_ROLE)

/**
 * Somebody must be left who can administer everything: an active administrator who is bound to no tenant.
 * @throws Problem CONFLICT
 */
export async function requireAnotherAdmin(
  tx: PrismaTransaction,
  user: UserRecord,
  after: Standing | null,
): Promise<void> {
  if (!administers(user) || (after !== null && administers(after))) return
  await lockLastAdmin.run(tx)
  const roles = { some: { role: { name: ADMIN_ROLE } } }
  const another = await tx.user.findFirst({ where: { id: { not: user.id }, status: 'active', tenant_id: null, roles } })
  if (another === null) throw conflict('This is the last active administrator who is bound to no tenant')
}
