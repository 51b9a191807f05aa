import type { Prisma } from '@slipway/database'
import { type Binding, EVERYWHERE, permissionsOf, type Scope } from '@slipway/domain'
import { shownBindings } from '../callers/shown-bindings.ts'
import { type RecordOf, recordKind } from '../records/kind.ts'
import { PRIVATE } from '../records/ownership.ts'
import { tableOf } from '../records/table.ts'

const ROLE = { id: true, name: true, permissions: true } satisfies Prisma.RoleSelect

/** Without password hash and second factor. */
const SHOWN = {
  id: true,
  kind: true,
  email: true,
  username: true,
  display_name: true,
  status: true,
  tenant_id: true,
  email_verified: true,
  break_glass: true,
  created_at: true,
  updated_at: true,
  identity: { select: { provider: true, subject: true } },
  roles: { select: { role: { select: ROLE } } },
  role_bindings: { select: { environment_ids: true, solution_ids: true, role: { select: ROLE } } },
} satisfies Prisma.UserSelect

export const USER = recordKind({
  name: 'user',
  resource: 'users',
  table: tableOf('user', { select: SHOWN }),
  owner: PRIVATE,
})

export type UserRow = RecordOf<typeof USER>

export function toUserRecord(
  { roles: _, role_bindings: __, updated_at: ___, ...user }: UserRow,
  bindings: readonly Binding[],
) {
  return { ...user, ...shownBindings(bindings), permissions: permissionsOf({ bindings, key: null }) }
}

/** The roles of a user, with and without scope. Prisma reads an absent list as an empty one, which is never stored. */
export function bindingsOf({ roles, role_bindings }: UserRow): Binding[] {
  const scoped = role_bindings.map(({ role, environment_ids, solution_ids }) =>
    bindingOf(role, { environment_ids: listOf(environment_ids), solution_ids: listOf(solution_ids) }),
  )
  return [...roles.map(({ role }) => bindingOf(role, EVERYWHERE)), ...scoped]
}

const bindingOf = ({ id, name, permissions }: UserRow['roles'][number]['role'], scope: Scope): Binding => ({
  role: name,
  role_id: id,
  permissions,
  ...scope,
})

const listOf = (ids: string[]) => (ids.length === 0 ? null : ids)

export type UserRecord = ReturnType<typeof toUserRecord>
