import type { ChangeUser, CreateUser, Static } from '@slipway/contracts'
import type { Queryable, Records } from '@slipway/database'
import { own } from '@slipway/database/read-models'
import { type Binding, conflict, nameKey } from '@slipway/domain'
import { type CallingUser, normalizeEmail } from '../callers/calling-user.ts'
import { shownBindings } from '../callers/shown-bindings.ts'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { announceRevocation, revokeUser } from '../identity/sessions.ts'
import { escapeLike } from '../pages.ts'
import { changesOf, pickGiven } from '../records/changes.ts'
import { type Change, type Creation, recordHandlers } from '../records/handlers.ts'
import { SAME_NAME } from '../records/names.ts'
import { fieldReferences } from '../records/references.ts'
import { bindingReferences, holdBindings, resolvedBindings, setBindings } from './role-bindings.ts'
import { bindingsOf, toUserRecord, USER, type UserRow } from './user-records.ts'
import {
  changesRights,
  checkNewUser,
  requireAnotherAdmin,
  requireMayActAs,
  requireMayGrantRights,
  requireMayHavePassword,
  requireMaySetBreakGlass,
  requireNoCredentials,
  requireNoSelfDemotion,
  requireOwnRights,
} from './user-rules.ts'

type Created = Omit<Static<typeof CreateUser>, 'email'> & { email: string | null; password_hash: string | null }
type Changed = Static<typeof ChangeUser> & { password_hash: string | undefined }
type UserOperation = `${'create' | 'get' | 'update' | 'delete'}User` | 'listUsers'

/** The column with the key of a user name. */
const keyOfUser = (username: string) => ({ name_key: nameKey(username) })

const REFERENCES = { tenant_id: 'tenant' } as const
const TAKEN = 'There is already a user with this e-mail or user name'

export function userHandlers(dependencies: Dependencies): HandlersOf<UserOperation> {
  const { database, passwords } = dependencies

  const handlers = recordHandlers(dependencies, USER, {
    show: (rows) => rows.map((row) => toUserRecord(row, bindingsOf(row))),
    sortColumns: { name: 'username' },
    matching({ search }) {
      if (search === undefined) return {}
      const found = { contains: escapeLike(search), mode: 'insensitive' as const }
      return { OR: [{ username: found }, { display_name: found }, { email: found }] }
    },

    async prepareCreate({ body: given, resolve }) {
      const body = given as Static<typeof CreateUser>
      const references = await resolve([...fieldReferences(body, REFERENCES), ...bindingReferences(body.role_bindings)])
      const { email, password } = body
      const credentials = {
        email: email === undefined ? null : normalizeEmail(email),
        password_hash: password === undefined ? null : await passwords.hash(password),
      }
      return { body: { ...body, ...credentials }, references }
    },
    async create({ tx, caller, id, tenant_id, body, references }: Creation<Created>) {
      references.requireFit(tenant_id)
      const scoped = resolvedBindings(body.role_bindings ?? [], references)
      const bindings = await holdBindings(tx, { roles: body.roles, scoped })
      const { kind = 'person', email, username, password_hash } = body
      const { display_name = null, status = 'active', email_verified = false, break_glass = false } = body
      if (break_glass) requireMaySetBreakGlass(caller)
      requireMayGrantRights(caller, { kind, status, bindings, tenant_id })
      return {
        columns: {
          id,
          kind,
          email,
          username,
          ...keyOfUser(username),
          display_name,
          password_hash,
          status,
          tenant_id,
          email_verified,
          break_glass,
        },
        details: {
          ...{ kind, email, username, display_name, status },
          ...shownBindings(bindings),
          ...(break_glass ? { break_glass } : {}),
        },
        afterwards: () => setBindings(tx, id, bindings),
      }
    },

    async prepareUpdate({ caller, body: given, found, resolve }) {
      const body = given as Static<typeof ChangeUser>
      if (found.id === caller.user_id && body.password !== undefined) {
        throw conflict('This is your own account: change its password with POST /auth/password')
      }
      requireNoCredentials(found, body)
      const references = await resolve([...fieldReferences(body, REFERENCES), ...bindingReferences(body.role_bindings)])
      const password_hash = body.password === undefined ? undefined : await passwords.hash(body.password)
      return { body: { ...body, password_hash }, references }
    },
    async update({ tx, caller, old: row, tenant_id, body, references }: Change<UserRow, Changed>) {
      const { password_hash } = body
      const had = bindingsOf(row)
      const old = toUserRecord(row, had)
      const bindings = await changedBindings(tx, { had, body, references, tenant_id })
      const after = {
        ...old,
        ...pickGiven(body, ['username', 'display_name', 'status', 'break_glass']),
        ...(body.email === undefined ? {} : { email: normalizeEmail(body.email) }),
        tenant_id,
        ...shownBindings(bindings),
      }
      // A new address counts as not verified.
      after.email_verified = body.email_verified ?? (old.email_verified && after.email === old.email)
      const [before, rights] = [
        { ...old, bindings: had },
        { ...after, bindings },
      ]
      const changes = changesRights(before, rights)
      if (changes) requireOwnRights(old)
      if (password_hash !== undefined) requireMayHavePassword(after)
      if (after.break_glass !== old.break_glass) requireMaySetBreakGlass(caller)
      if (changes) requireMayGrantRights(caller, rights)
      if (password_hash !== undefined || after.email !== old.email) requireMayActAs(caller, had)
      requireNoSelfDemotion(caller, before, rights)
      await requireAnotherAdmin(tx, before, rights)
      if (changes) await setBindings(tx, old.id, bindings)
      await endSessions(tx, old, after, password_hash !== undefined)
      const { email, username, display_name, status, email_verified, break_glass, permissions: _, ...rest } = after
      return {
        columns: {
          email,
          username,
          ...(username === old.username ? {} : keyOfUser(username)),
          display_name,
          status,
          tenant_id,
          email_verified,
          break_glass,
          ...(password_hash === undefined ? {} : { password_hash }),
        },
        details: {
          changes: changesOf(old, { ...rest, email, username, display_name, status, email_verified, break_glass }),
          password_changed: password_hash !== undefined,
        },
      }
    },

    async beforeDelete({ tx, caller, old }) {
      const user = { ...old, bindings: bindingsOf(old) }
      requireNoSelfDemotion(caller, user, null)
      await requireAnotherAdmin(tx, user, null)
      await revokeUser(tx, user.id)
      // Foreign keys delete the API keys, sessions and codes of the user.
    },
    deleted: ({ email, username }) => ({ email, username }),

    /** Names the user who is in the way, unless it belongs to another tenant than the caller. */
    async describeTaken(caller, id, { email, username }) {
      const found = await findTakenUser(await database.prisma(), caller, { id, email, username })
      if (found === null) return { path: '', message: TAKEN }
      const difference = found.username === username || found.email === email ? '' : `: ${SAME_NAME}`
      const address = found.email === null ? '' : `, ${found.email}`
      const message = `${TAKEN}: "${found.username}"${address} (${found.id})${difference}`
      const hasAddress = typeof email === 'string' && found.email === normalizeEmail(email)
      return { path: hasAddress ? '/email' : '/username', message }
    },
  })
  return {
    listUsers: handlers.list,
    createUser: { ...handlers.create, check: checkNewUser },
    getUser: handlers.get,
    updateUser: handlers.update,
    deleteUser: handlers.delete,
  }
}

/** Another user with this address or name, if the caller may see it. */
function findTakenUser(
  { user }: Records,
  caller: CallingUser,
  { id, email, username }: { id: string; email: string | null | undefined; username: string | undefined },
) {
  const given = [
    ...(email === undefined || email === null ? [] : [{ email: normalizeEmail(email) }]),
    ...(username === undefined ? [] : [{ username }, keyOfUser(username)]),
  ]
  const select = { id: true, username: true, email: true }
  return user.findFirst({ where: { AND: [own(caller), { OR: given }], NOT: { id } }, select })
}

/** All roles of a user after a change: `roles` replaces those without a scope, `role_bindings` the others. */
async function changedBindings(
  tx: Queryable,
  {
    had,
    body,
    references,
    tenant_id,
  }: Pick<Change<UserRow, Changed>, 'body' | 'references' | 'tenant_id'> & { had: Binding[] },
): Promise<Binding[]> {
  if (body.roles === undefined && body.role_bindings === undefined) return had
  references.requireFit(tenant_id)
  const { roles, role_bindings } = shownBindings(had)
  const scoped = body.role_bindings === undefined ? role_bindings : resolvedBindings(body.role_bindings, references)
  return holdBindings(tx, { roles: body.roles ?? roles, scoped })
}

interface Standing {
  id: string
  tenant_id: string | null
  status: string
}

/** A new password, tenant or status ends all sessions. A change of roles does not: every request reads the roles. */
async function endSessions(tx: Queryable, old: Standing, user: Standing, newPassword: boolean): Promise<void> {
  const isOver =
    newPassword || user.tenant_id !== old.tenant_id || (user.status !== old.status && user.status !== 'active')
  if (isOver) await revokeUser(tx, user.id)
  else await announceRevocation(tx, user.id)
}
