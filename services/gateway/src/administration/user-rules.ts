import { LOCK_KEYS, statement, type Transaction } from '@slipway/database'
import { ADMIN_ROLE, type Binding, conflict, isScoped, lackedBy, Problem } from '@slipway/domain'
import type { CallingUser } from '../callers/calling-user.ts'
import { requirePerson } from '../callers/permission.ts'
import type { Check } from '../handler.ts'
import { keyOf } from './role-bindings.ts'
import type { UserRecord } from './user-records.ts'

/** What a service account does not have. */
const CREDENTIALS = ['email', 'email_verified', 'password', 'break_glass'] as const

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

/** Serializes changes that remove an administrator: two of them must not remove the last two. */
const lockLastAdmin = statement({
  name: 'gateway.users.lock-last-admin',
  sql: `SELECT FROM pg_advisory_xact_lock(${LOCK_KEYS.lastAdmin})`,
})

/**
 * Requires that the caller has what these bindings give, in that scope or a wider one.
 * @throws Problem INSUFFICIENT_PERMISSIONS
 */
export function requireMayGive(caller: CallingUser, bindings: readonly Binding[]): void {
  const lacked = lackedBy(caller, bindings)
  if (lacked.length === 0) return
  const list = lacked.join(', ')
  throw new Problem('INSUFFICIENT_PERMISSIONS', `You cannot give permissions that you lack in this scope: ${list}`)
}

export const changesRights = (user: UserRights, after: UserRights): boolean =>
  after.tenant_id !== user.tenant_id || lacks(user, after) || lacks(after, user)

/** Whether one lacks a binding of the other. */
function lacks(one: UserRights, other: UserRights): boolean {
  const keys = new Set(one.bindings.map(keyOf))
  return other.bindings.some((binding) => !keys.has(keyOf(binding)))
}

/**
 * Requires every permission that the user has after the change. Unchanged roles count, too: in another tenant they give access
 * to other records.
 * @throws Problem INSUFFICIENT_PERMISSIONS
 */
export function requireMayGrantRights(caller: CallingUser, after: UserRights): void {
  requireMayGive(caller, after.bindings)
  if (after.tenant_id !== null || caller.tenant_id === null) return
  throw new Problem('INSUFFICIENT_PERMISSIONS', 'Only users without tenant may remove the tenant of a user')
}

/**
 * Setting the password or e-mail of a user, or making a credential of it, allows to act as that user.
 * @throws Problem INSUFFICIENT_PERMISSIONS
 */
export function requireMayActAs(caller: CallingUser, bindings: readonly Binding[]): void {
  if (lackedBy(caller, bindings).length === 0) return
  throw new Problem(
    'INSUFFICIENT_PERMISSIONS',
    'This user has permissions that you lack, so you cannot set the password or e-mail, nor make keys and trusts of it',
  )
}

/**
 * The next login would undo the change.
 * @throws Problem CONFLICT if roles or tenant of a user of a login provider are changed
 */
export function requireOwnRights({ identity }: UserRecord): void {
  if (identity === null) return
  throw conflict(
    `The login provider "${identity.provider}" sets roles and tenant of this user: change its groups there, or the rules in the file of the providers`,
  )
}

/**
 * A password would go round the second factor of the provider, and would work after the provider has ended the account.
 * @throws Problem CONFLICT if a user of a login provider gets a password and has no `break_glass`
 */
export function requireMayHavePassword({ identity, break_glass }: UserRecord): void {
  if (identity === null || break_glass) return
  throw conflict(
    `This user logs in with the login provider "${identity.provider}", so it gets no password: change the password there, or set break_glass for an emergency account`,
  )
}

/**
 * A leaked key must not open the login by password that an operator has switched off.
 * @throws Problem FORBIDDEN
 */
export function requireMaySetBreakGlass(caller: CallingUser): void {
  requirePerson(caller)
  if (caller.tenant_id === null && caller.bindings.some(isAdmin)) return
  throw new Problem('FORBIDDEN', 'Only administrators without tenant may change break_glass')
}

/** What decides about the rights of a user. */
interface UserRights {
  kind: string
  status: string
  bindings: readonly Binding[]
  tenant_id: string | null
}

interface StoredUser extends UserRights {
  id: string
}

/** @throws Problem CONFLICT if callers delete, suspend, move or demote themselves */
export function requireNoSelfDemotion(caller: CallingUser, user: StoredUser, after: UserRights | null): void {
  if (user.id !== caller.user_id) return
  if (after === null) throw conflict('You cannot delete yourself: let another administrator do it')
  if (!lacks(after, user) && after.status === user.status && after.tenant_id === user.tenant_id) return
  throw conflict('You cannot suspend yourself, move yourself to another tenant or drop your own roles')
}

/** A service account does not count: nobody can log in to it. */
const isFullAdmin = ({ kind, status, bindings, tenant_id }: UserRights) =>
  kind === 'person' && status === 'active' && tenant_id === null && bindings.some(isAdmin)

const isAdmin = (binding: Binding) => binding.role === ADMIN_ROLE && !isScoped(binding)

/** Whether the change takes the last active administrator without tenant away. Locks that question until the transaction ends. */
export async function takesLastAdmin(tx: Transaction, user: StoredUser, after: UserRights | null): Promise<boolean> {
  if (!isFullAdmin(user) || (after !== null && isFullAdmin(after))) return false
  await lockLastAdmin.run(tx)
  const prisma = await tx.prisma()
  const roles = { some: { role: { name: ADMIN_ROLE } } }
  const another = await prisma.user.findFirst({
    where: { id: { not: user.id }, kind: 'person', status: 'active', tenant_id: null, roles },
  })
  return another === null
}

/**
 * Without an active administrator outside of all tenants, the installation could not be administered any more.
 * @throws Problem CONFLICT
 */
export async function requireAnotherAdmin(tx: Transaction, user: StoredUser, after: UserRights | null): Promise<void> {
  if (!(await takesLastAdmin(tx, user, after))) return
  throw conflict('This is the last active administrator without tenant: create another one first')
}
