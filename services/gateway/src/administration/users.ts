import type { ChangeUser, CreateUser, Static } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { conflict } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { normalizeEmail } from '../callers/calling-user.ts'
import { changesOf, given, orTaken } from '../catalog/changing.ts'
import { answerPage, escapeLike } from '../catalog/listing.ts'
import { fieldReferences, References } from '../catalog/references.ts'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../http/handler.ts'
import { announceRevocation, revokeUser } from '../identity/revocation.ts'
import { countUsers, lockUser, pageOfUsers, readUser, type UserRecord } from './user-records.ts'
import {
  changesReach,
  type GrantedRole,
  requireAnotherAdmin,
  requireMayActAs,
  requireMayGiveReach,
  requireNotFromOneself,
  rolesNamed,
} from './user-rules.ts'

type UserOperation = 'listUsers' | 'createUser' | 'getUser' | 'updateUser' | 'deleteUser'

const TAKEN = 'There is already a user with this e-mail or user name'

/** Users, by those who administer them: all of them, or those of the caller's tenant. */
export function userHandlers({ database, passwords, outboxChanged }: Dependencies): HandlersOf<UserOperation> {
  return {
    listUsers: {
      handle({ caller, query }) {
        const pattern = query.search === undefined ? null : `%${escapeLike(query.search)}%`
        return answerPage(
          query,
          () => countUsers(database, caller, pattern),
          (slice) => pageOfUsers(database, caller, pattern, slice),
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
        const user = await orTaken(TAKEN, () =>
          database.transaction(async (tx) => {
            const roles = await rolesNamed(tx, body.roles)
            requireMayGiveReach(caller, { status, roles: body.roles, tenant_id }, roles)
            await tx.query(
              `INSERT INTO users (id, email, username, display_name, password_hash, status, tenant_id, email_verified)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
              [id, email, username, display_name, password_hash, status, tenant_id, email_verified],
            )
            await setRoles(tx, id, roles)
            const details = { email, username, display_name, status, roles: body.roles }
            await call.audit.record(tx, { resource_id: id, tenant_id, details })
            return readUser(tx, caller, id)
          }),
        )
        return { status: 201, body: user }
      },
    },

    getUser: {
      handle: async ({ caller, params }) => ({
        status: 200,
        body: await readUser(database, caller, params['id'] ?? ''),
      }),
    },

    updateUser: {
      async handle(call) {
        const { caller } = call
        const body = call.body as Static<typeof ChangeUser>
        const { id } = await readUser(database, caller, call.params['id'] ?? '')
        if (id === caller.user_id && body.password !== undefined) {
          throw conflict('Change your own password with POST /auth/password, which asks for the present one')
        }
        const references = await References.resolve(database, caller, fieldReferences(body, { tenant_id: 'tenant' }))
        const password_hash = body.password === undefined ? undefined : await passwords.hash(body.password)
        const user = await orTaken(TAKEN, () =>
          database.transaction(async (tx) => {
            const old = await lockUser(tx, caller, id)
            const after = {
              ...old,
              ...given(body, ['username', 'display_name', 'status']),
              ...(body.email === undefined ? {} : { email: normalizeEmail(body.email) }),
              ...(body.tenant_id === undefined ? {} : { tenant_id: references.tenantFor(caller) }),
              roles: body.roles?.toSorted() ?? old.roles,
            }
            // A new address is nobody's until it is verified.
            after.email_verified = body.email_verified ?? (old.email_verified && after.email === old.email)
            const roles = changesReach(old, after) ? await rolesNamed(tx, body.roles ?? old.roles) : null
            if (roles !== null) requireMayGiveReach(caller, after, roles)
            if (password_hash !== undefined || after.email !== old.email) requireMayActAs(caller, old)
            requireNotFromOneself(caller, old, after)
            await requireAnotherAdmin(tx, old, after)
            await writeUser(tx, after, password_hash)
            if (roles !== null) await setRoles(tx, id, roles)
            await endWhatIsOver(tx, old, after, password_hash !== undefined)
            const { permissions: _, ...told } = after
            const details = { changes: changesOf(old, told), password_changed: password_hash !== undefined }
            await call.audit.record(tx, { resource_id: id, tenant_id: after.tenant_id, details })
            return readUser(tx, caller, id)
          }),
        )
        outboxChanged()
        return { status: 200, body: user }
      },
    },

    deleteUser: {
      async handle({ caller, params, audit }) {
        await database.transaction(async (tx) => {
          const user = await lockUser(tx, caller, params['id'] ?? '')
          requireNotFromOneself(caller, user, null)
          await requireAnotherAdmin(tx, user, null)
          const { id, email, username, tenant_id } = user
          await revokeUser(tx, id)
          // Takes keys, sessions and codes with it.
          await tx.query('DELETE FROM users WHERE id = $1', [id])
          await audit.record(tx, { resource_id: id, tenant_id, details: { email, username } })
        })
        outboxChanged()
        return { status: 204 }
      },
    },
  }
}

async function writeUser(tx: Queryable, user: UserRecord, passwordHash: string | undefined): Promise<void> {
  await tx.query(
    `UPDATE users SET email = $2, username = $3, display_name = $4, status = $5, tenant_id = $6,
       password_hash = coalesce($7, password_hash), email_verified = $8, updated_at = now()
     WHERE id = $1`,
    [
      user.id,
      user.email,
      user.username,
      user.display_name,
      user.status,
      user.tenant_id,
      passwordHash ?? null,
      user.email_verified,
    ],
  )
}

async function setRoles(tx: Queryable, userId: string, roles: GrantedRole[]): Promise<void> {
  const ids = roles.map(({ id }) => id)
  await tx.query('DELETE FROM user_roles WHERE user_id = $1 AND NOT role_id = ANY($2::uuid[])', [userId, ids])
  await tx.query(
    'INSERT INTO user_roles (user_id, role_id) SELECT $1, unnest($2::uuid[]) ON CONFLICT (user_id, role_id) DO NOTHING',
    [userId, ids],
  )
}

/** Roles count anew with each request, so that sessions outlive them; what else changed, they do not. */
async function endWhatIsOver(tx: Queryable, old: UserRecord, user: UserRecord, newPassword: boolean): Promise<void> {
  const isOver =
    newPassword || user.tenant_id !== old.tenant_id || (user.status !== old.status && user.status !== 'active')
  if (isOver) await revokeUser(tx, user.id)
  else await announceRevocation(tx, user.id)
}
