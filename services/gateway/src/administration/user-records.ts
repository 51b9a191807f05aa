import type { Prisma, Transaction } from '@slipway/database'
import { own, type Viewer } from '@slipway/database/read-models'
import { isUuid, nameKey, notFound } from '@slipway/domain'
import { normalizeEmail } from '../callers/calling-user.ts'
import { lockRecord } from '../catalog/changing.ts'
import { escapeLike, pageOfNewest, type Slice } from '../pages.ts'

const SHOWN = {
  id: true,
  email: true,
  username: true,
  display_name: true,
  status: true,
  tenant_id: true,
  email_verified: true,
  created_at: true,
  roles: { select: { role: { select: { name: true, permissions: true } } } },
} satisfies Prisma.UserSelect

const toUserRecord = ({ roles, ...user }: Prisma.UserGetPayload<{ select: typeof SHOWN }>) => ({
  ...user,
  roles: roles.map(({ role }) => role.name).sort(),
  permissions: [...new Set(roles.flatMap(({ role }) => role.permissions))].sort(),
})

export type UserRecord = ReturnType<typeof toUserRecord>

type Users = Pick<Prisma.TransactionClient, 'user'>

function matching(viewer: Viewer, search: string | undefined): Prisma.UserWhereInput {
  if (search === undefined) return own(viewer)
  const found = { contains: escapeLike(search), mode: 'insensitive' as const }
  return { AND: [own(viewer), { OR: [{ username: found }, { display_name: found }, { email: found }] }] }
}

export const countUsers = ({ user }: Users, viewer: Viewer, search: string | undefined): Promise<number> =>
  user.count({ where: matching(viewer, search) })

export interface WantedUser {
  id: string
  email?: string | undefined
  username?: string | undefined
}

/** Another user with this address or name, if the viewer may see it. */
export function findTakenUser({ user }: Users, viewer: Viewer, { id, email, username }: WantedUser) {
  const given = [
    ...(email === undefined ? [] : [{ email: normalizeEmail(email) }]),
    ...(username === undefined ? [] : [{ username }, keyOfUser(username)]),
  ]
  const select = { id: true, email: true, username: true } satisfies Prisma.UserSelect
  return user.findFirst({ where: { AND: [own(viewer), { OR: given }], NOT: { id } }, select })
}

/** The column with the key of a user name. */
export const keyOfUser = (username: string) => ({ name_key: nameKey(username) })

/** Newest first. */
export async function pageOfUsers(
  { user }: Users,
  viewer: Viewer,
  search: string | undefined,
  slice: Slice,
): Promise<UserRecord[]> {
  const where = matching(viewer, search)
  return (await user.findMany({ ...pageOfNewest(where, slice), select: SHOWN })).map(toUserRecord)
}

/** @throws Problem NOT_FOUND, also for a user whom the viewer may not see */
export async function readUser({ user }: Users, viewer: Viewer, id: string): Promise<UserRecord> {
  const found = isUuid(id) ? await user.findFirst({ where: { id, AND: own(viewer) }, select: SHOWN }) : null
  if (found === null) throw notFound('The user')
  return toUserRecord(found)
}

/** Locks the user until the transaction ends. */
export async function lockUser(tx: Transaction, viewer: Viewer, id: string): Promise<UserRecord> {
  const prisma = await tx.prisma()
  if (isUuid(id)) await lockRecord(tx, 'users', id)
  return readUser(prisma, viewer, id)
}
