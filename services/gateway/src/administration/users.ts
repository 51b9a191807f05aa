import type { ChangeUser, CreateUser, Static } from '@slipway/contracts'
import type { Queryable, Records } from '@slipway/database'
import { conflict } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { type CallingUser, normalizeEmail } from '../callers/calling-user.ts'
import { changesOf, conflictIfTaken, pickGiven } from '../catalog/changing.ts'
import { fieldReferences, References } from '../catalog/references.ts'
import { SAME_NAME } from '../catalog/taken-names.ts'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { announceRevocation, revokeUser } from '../identity/revocation.ts'
import { answerPage, newestOrder } from '../pages.ts'
import {
  countUsers,
  findTakenUser,
  keyOfUser,
  lockUser,
  pageOfUsers,
  readUser,
  type UserRecord,
  type WantedUser,
} from './user-records.ts'
import {
  changesRolesOrTenant,
  type GrantedRole,
  requireAnotherAdmin,
  requireMayActAs,
  requireMayGrantRights,
  requireNoSelfDemotion,
  requireRoles,
} from './user-rules.ts'

type UserOperation = 'listUsers' | 'createUser' | 'getUser' | 'updateUser' | 'deleteUser'

const TAKEN = 'There is already a user with this e-mail or user name'

export function userHandlers({ database, passwords, outboxChanged }: Dependencies): HandlersOf<UserOperation> {
  /** Names the user who is in the way, unless it belongs to another tenant than the caller. */
  async function describeTaken(caller: CallingUser, wanted: WantedUser): Promise<string> {
    const found = await findTakenUser(await database.prisma(), caller, wanted)
    if (found === null) return TAKEN
    const difference = found.username === wanted.username || found.email === wanted.email ? '' : `: ${SAME_NAME}`
    return `${TAKEN}: "${found.username}", ${found.email} (${found.id})${difference}`
  }

  return {
    listUsers: {
      async handle({ caller, query }) {
        const prisma = await database.prisma()
        return answerPage(
          query,
          newestOrder('users'),
          () => countUsers(prisma, caller, query.search),
          (slice) => pageOfUsers(prisma, caller, query.search, slice),
        )
      },
    },

    createUser: {
      async handle(call) {
        const { caller } = call
        const body = call.body as Static<typeof CreateUser>
        const references = await References.resolve(database, caller, fieldReferences(body, { tenant_id: 'tenant' }))
        const tenant_id = references.tenantFor(caller)
        const id = uuidv7()
        const password_hash = await passwords.hash(body.password)
        const email = normalizeEmail(body.email)
        const { username, display_name = null, status = 'active', email_verified = false } = body
        const user = await conflictIfTaken(
          () => describeTaken(caller, { id, email, username }),
          () =>
            database.transaction(async (tx) => {
              const prisma = await tx.prisma()
              const roles = await requireRoles(tx, body.roles)
              requireMayGrantRights(caller, { status, roles: body.roles, tenant_id }, roles)
              const given = {
                id,
                email,
                username,
                ...keyOfUser(username),
                display_name,
                password_hash,
                status,
                tenant_id,
                email_verified,
              }
              await prisma.user.create({
                data: { ...given, roles: { create: roles.map((role) => ({ role_id: role.id })) } },
              })
              const details = { email, username, display_name, status, roles: body.roles }
              await call.audit.record(tx, { resource_id: id, tenant_id, details })
              return readUser(prisma, caller, id)
            }),
        )
        return { status: 201, body: user }
      },
    },

    getUser: {
      handle: async ({ caller, params }) => ({
        status: 200,
        body: await readUser(await database.prisma(), caller, params['id'] ?? ''),
      }),
    },

    updateUser: {
      async handle(call) {
        const { caller } = call
        const body = call.body as Static<typeof ChangeUser>
        const { id } = await readUser(await database.prisma(), caller, call.params['id'] ?? '')
        if (id === caller.user_id && body.password !== undefined) {
          throw conflict('This is your own account: change its password with POST /auth/password')
        }
        const references = await References.resolve(database, caller, fieldReferences(body, { tenant_id: 'tenant' }))
        const password_hash = body.password === undefined ? undefined : await passwords.hash(body.password)
        const user = await conflictIfTaken(
          () => describeTaken(caller, { id, email: body.email, username: body.username }),
          () =>
            database.transaction(async (tx) => {
              const prisma = await tx.prisma()
              const old = await lockUser(tx, caller, id)
              const after = {
                ...old,
                ...pickGiven(body, ['username', 'display_name', 'status']),
                ...(body.email === undefined ? {} : { email: normalizeEmail(body.email) }),
                ...(body.tenant_id === undefined ? {} : { tenant_id: references.tenantFor(caller) }),
                roles: body.roles?.toSorted() ?? old.roles,
              }
              // A new address counts as not verified.
              after.email_verified = body.email_verified ?? (old.email_verified && after.email === old.email)
              const roles = changesRolesOrTenant(old, after) ? await requireRoles(tx, body.roles ?? old.roles) : null
              if (roles !== null) requireMayGrantRights(caller, after, roles)
              if (password_hash !== undefined || after.email !== old.email) requireMayActAs(caller, old)
              requireNoSelfDemotion(caller, old, after)
              await requireAnotherAdmin(tx, old, after)
              const { email, username, display_name, status, tenant_id, email_verified } = after
              const password = password_hash === undefined ? {} : { password_hash }
              const key = username === old.username ? {} : keyOfUser(username)
              const data = { email, username, ...key, display_name, status, tenant_id, email_verified, ...password }
              await prisma.user.update({ where: { id }, data })
              if (roles !== null) await setRoles(prisma, id, roles)
              await endSessions(tx, old, after, password_hash !== undefined)
              const { permissions: _, ...told } = after
              const details = { changes: changesOf(old, told), password_changed: password_hash !== undefined }
              await call.audit.record(tx, { resource_id: id, tenant_id: after.tenant_id, details })
              return readUser(prisma, caller, id)
            }),
        )
        outboxChanged()
        return { status: 200, body: user }
      },
    },

    deleteUser: {
      async handle({ caller, params, audit }) {
        await database.transaction(async (tx) => {
          const prisma = await tx.prisma()
          const user = await lockUser(tx, caller, params['id'] ?? '')
          requireNoSelfDemotion(caller, user, null)
          await requireAnotherAdmin(tx, user, null)
          const { id, email, username, tenant_id } = user
          await revokeUser(tx, id)
          // Foreign keys delete the API keys, sessions and codes of the user.
          await prisma.user.delete({ where: { id } })
          await audit.record(tx, { resource_id: id, tenant_id, details: { email, username } })
        })
        outboxChanged()
        return { status: 204 }
      },
    },
  }
}

async function setRoles(prisma: Records, user_id: string, roles: GrantedRole[]): Promise<void> {
  const ids = roles.map(({ id }) => id)
  await prisma.userRole.deleteMany({ where: { user_id, role_id: { notIn: ids } } })
  await prisma.userRole.createMany({ data: ids.map((role_id) => ({ user_id, role_id })), skipDuplicates: true })
}

/** A new password, tenant or status ends all sessions. A change of roles does not: every request reads the roles. */
async function endSessions(tx: Queryable, old: UserRecord, user: UserRecord, newPassword: boolean): Promise<void> {
  const isOver =
    newPassword || user.tenant_id !== old.tenant_id || (user.status !== old.status && user.status !== 'active')
  if (isOver) await revokeUser(tx, user.id)
  else await announceRevocation(tx, user.id)
}
