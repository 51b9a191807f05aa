import type { Prisma } from '@slipway/database'
import { type RecordOf, recordKind } from '../records/kind.ts'
import { PRIVATE } from '../records/ownership.ts'
import { tableOf } from '../records/table.ts'

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
  created_at: true,
  identity: { select: { provider: true, subject: true } },
  roles: { select: { role: { select: { name: true, permissions: true } } } },
} satisfies Prisma.UserSelect

export const USER = recordKind({
  name: 'user',
  resource: 'users',
  table: tableOf('user', { select: SHOWN }),
  owner: PRIVATE,
})

export type UserRow = RecordOf<typeof USER>

export const toUserRecord = ({ roles, ...user }: UserRow) => ({
  ...user,
  roles: roles.map(({ role }) => role.name).sort(),
  permissions: [...new Set(roles.flatMap(({ role }) => role.permissions))].sort(),
})

export type UserRecord = ReturnType<typeof toUserRecord>
