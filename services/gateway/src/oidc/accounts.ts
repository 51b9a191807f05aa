import { type Database, isUniqueViolation, type Queryable, type RowOf, type Transaction } from '@slipway/database'
import { ADMIN_ROLE, type Binding, EVERYWHERE, nameKey, type Scope } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { holdRoles } from '../administration/role-bindings.sql.ts'
import { setBindings } from '../administration/role-bindings.ts'
import { changesRights, takesLastAdmin } from '../administration/user-rules.ts'
import { shownBindings } from '../callers/shown-bindings.ts'
import { deleteKeysOfUser } from '../identity/api-keys.sql.ts'
import { dropRecoveryCodes } from '../identity/recovery-codes.ts'
import { disableFactor } from '../identity/second-factor.sql.ts'
import { announceRevocation, revokeUser } from '../identity/sessions.ts'
import { LoginRefused } from '../login-providers/login-refused.ts'
import type { ProviderUser } from '../login-providers/provider-client.ts'
import type { Provider } from '../login-providers/providers-file.ts'
import { type NamedRights, rightsOf } from '../login-providers/rights.ts'
import { changesOf } from '../records/changes.ts'
import { holdScope } from '../records/scopes.ts'
import {
  findEnvironmentsByName,
  findSolutionsByName,
  findTakenNames,
  findTenantBySlug,
  insertIdentity,
  insertPerson,
  lockAddress,
  lockIdentity,
  noteProvider,
  noteProviderLogin,
  readAccount,
  removePassword,
} from './accounts.sql.ts'
import { profileOf, usernamesFor } from './profile.ts'

export type Account = RowOf<typeof readAccount>

/** The account of a login with its new rights, and what the audit record says about the login. */
export interface SignedIn {
  account: Account
  details: Record<string, unknown>
}

/** Two first logins of one user, or two new users of one name, may run at once. The second one tries again. */
const ATTEMPTS = 4

/**
 * Finds or makes the account of a user at a provider, sets its rights by the rules of the provider, and runs `complete`, all in one
 * transaction.
 * @throws LoginRefused
 */
export async function signIn<T>(
  database: Database,
  provider: Provider,
  user: ProviderUser,
  complete: (tx: Transaction, signedIn: SignedIn) => Promise<T>,
): Promise<T> {
  const rights = rightsOf(provider, user.claims)
  if (typeof rights === 'string') throw new LoginRefused(rights, `${rights}: see the rules of the provider`)
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await database.transaction(async (tx) => {
        const tenant_id = await findTenant(tx, rights)
        const { id, origin } = await findOrMake(tx, provider, user, tenant_id)
        const account = await readAccount.one(tx, { id })
        requireActive(account)
        const changes = await setRights(tx, account, { ...rights, tenant_id })
        await noteProvider.run(tx, { user_id: id, provider: provider.id })
        const details = { provider: provider.id, ...origin, ...(Object.keys(changes).length > 0 ? { changes } : {}) }
        return complete(tx, { account: await readAccount.one(tx, { id }), details })
      })
    } catch (error) {
      if (attempt === ATTEMPTS || !isUniqueViolation(error)) throw error
    }
  }
}

function requireActive(account: Account): void {
  if (account.status === 'active') return
  throw new LoginRefused('account_inactive', `the account is ${account.status}`, account)
}

interface Found {
  id: string
  /** How the account came to the provider, if this login is the first. */
  origin: { created: true } | { linked: true; ended: Credential[] } | Record<string, never>
}

type Credential = 'sessions' | 'password' | 'second_factor' | 'api_keys'

/** A user is known by issuer and subject alone: an address may belong to somebody else tomorrow. */
async function findOrMake(
  tx: Queryable,
  provider: Provider,
  user: ProviderUser,
  tenant_id: string | null,
): Promise<Found> {
  const { issuer } = provider
  const { subject } = user
  const known = await lockIdentity.first(tx, { issuer, subject })
  if (known !== null) return { id: known.id, origin: {} }
  const profile = profileOf(user)
  const { email, email_verified } = profile
  const holder = email === null ? null : await lockAddress.first(tx, { email })
  const link = (user_id: string) => insertIdentity.run(tx, { user_id, provider: provider.id, issuer, subject })
  if (holder !== null) {
    const account = await readAccount.one(tx, holder)
    requireMayLink(account, provider.link_by_email === true && email_verified && account.tenant_id === tenant_id)
    await link(account.id)
    return { id: account.id, origin: { linked: true, ended: await endCredentials(tx, account) } }
  }
  const id = uuidv7()
  const username = await freeUsername(tx, profile.username)
  const { display_name } = profile
  await insertPerson.run(tx, { id, email, email_verified, username, name_key: nameKey(username), display_name })
  await link(id)
  return { id, origin: { created: true } }
}

/** Whoever controls the provider would take over the account, so an administrator is never linked. */
function requireMayLink(account: Account, isAllowed: boolean): void {
  const isAdmin = account.bindings.some(({ role }) => role === ADMIN_ROLE)
  if (isAllowed && !isAdmin && !account.is_linked && account.kind === 'person') return
  throw new LoginRefused('address_taken', `the account ${account.username} has this address`, account)
}

/**
 * Ends every credential that a linked account had, and returns which. Somebody else may have prepared the account, and would get
 * the rights that the rules give. Only administrators set `break_glass`: such an account keeps its password and second factor.
 */
async function endCredentials(tx: Queryable, account: Account): Promise<Credential[]> {
  const user_id = account.id
  const ended: Credential[] = ['sessions']
  await revokeUser(tx, user_id)
  if (!account.break_glass) {
    if ((await removePassword.run(tx, { user_id })) > 0) ended.push('password')
    // Also a factor that is set up and not yet enabled.
    await disableFactor.run(tx, { user_id })
    await dropRecoveryCodes(tx, user_id)
    if (account.totp_enabled) ended.push('second_factor')
  }
  if ((await deleteKeysOfUser.run(tx, { user_id })) > 0) ended.push('api_keys')
  return ended
}

async function freeUsername(tx: Queryable, wanted: string): Promise<string> {
  const usernames = usernamesFor(wanted)
  const taken = await findTakenNames.all(tx, { usernames, name_keys: usernames.map(nameKey) })
  const isTaken = (name: string) =>
    taken.some(({ username, name_key }) => username === name || name_key === nameKey(name))
  const free = usernames.find((name) => !isTaken(name))
  if (free === undefined) throw new LoginRefused('failed', `no name like ${wanted} is free`)
  return free
}

/** By names, with the tenant that they name. */
type FoundRights = NamedRights & { tenant_id: string | null }

/** Replaces roles and tenant of an account, and returns what has changed. */
async function setRights(tx: Transaction, account: Account, rights: FoundRights): Promise<Record<string, unknown>> {
  const user_id = account.id
  const { tenant_id } = rights
  const bindings = await resolve(tx, rights)
  const after = { ...account, tenant_id, bindings }
  if (await takesLastAdmin(tx, account, after)) {
    throw new LoginRefused('last_admin', 'the login would take the last administrator without tenant away', account)
  }
  await noteProviderLogin.run(tx, { user_id, tenant_id })
  if (!changesRights(account, after)) return {}
  await setBindings(tx, user_id, bindings)
  // Sessions that began in another tenant end. With other roles they go on, because every request reads the roles.
  if (tenant_id === account.tenant_id) await announceRevocation(tx, user_id)
  else await revokeUser(tx, user_id)
  const shown = (user: Pick<Account, 'tenant_id' | 'bindings'>) => ({
    ...shownBindings(user.bindings),
    tenant_id: user.tenant_id,
  })
  return changesOf(shown(account), shown(after))
}

/** @throws LoginRefused if the rules name a tenant that does not exist */
async function findTenant(tx: Queryable, { tenant }: NamedRights): Promise<string | null> {
  if (tenant === null) return null
  const found = await findTenantBySlug.first(tx, { slug: tenant })
  if (found === null) throw new LoginRefused('unknown_tenant', `no tenant has the slug ${tenant}`)
  return found.id
}

/**
 * Finds what the rules name. All of it stays until the end of the transaction.
 * @throws LoginRefused if something does not exist
 */
async function resolve(tx: Queryable, { tenant_id, roles, bindings }: FoundRights): Promise<Binding[]> {
  const known = await holdRoles.all(tx, { names: [...roles, ...bindings.map(({ role }) => role)] })
  const named = (field: 'environments' | 'solutions') => bindings.flatMap((binding) => binding[field] ?? [])
  const environments = idsByName(await findEnvironmentsByName.all(tx, { names: named('environments'), tenant_id }))
  const solutions = idsByName(await findSolutionsByName.all(tx, { names: named('solutions'), tenant_id }))
  const bindingOf = (name: string, scope: Scope): Binding => {
    const role = known.find((one) => one.name === name)
    if (role === undefined) throw new LoginRefused('unknown_role', `the rules name the role ${name}`)
    return { role: name, role_id: role.id, permissions: role.permissions, ...scope }
  }
  const scoped = bindings.map((binding) =>
    bindingOf(binding.role, {
      environment_ids:
        binding.environments?.flatMap((name) => idsOf(environments, 'unknown_environment', name)) ?? null,
      solution_ids: binding.solutions?.flatMap((name) => idsOf(solutions, 'unknown_solution', name)) ?? null,
    }),
  )
  // One of them may have been deleted since it was found.
  await holdScope(tx, scoped)
  return [...roles.map((name) => bindingOf(name, EVERYWHERE)), ...scoped]
}

/** A tenant and all tenants together may both have an environment of one name. */
function idsByName(rows: readonly { id: string; name: string }[]): Map<string, string[]> {
  const ids = new Map<string, string[]>()
  for (const { id, name } of rows) ids.set(name, [...(ids.get(name) ?? []), id])
  return ids
}

function idsOf(ids: Map<string, string[]>, error: 'unknown_environment' | 'unknown_solution', name: string): string[] {
  const found = ids.get(name)
  if (found === undefined) throw new LoginRefused(error, `the rules name ${name}, which does not exist`)
  return found
}
