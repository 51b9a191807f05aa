import type { Schema } from '@slipway/client'
import type { Command } from 'commander'
import { RefusedError } from '../exit-code.ts'
import { sanitize } from '../terminal/controls.ts'
import { requireConsent } from '../terminal/prompt.ts'
import { type Context, provideContext } from './context.ts'
import { addNoun, LIST } from './nouns.ts'
import { DO_NOT_ASK } from './record-commands.ts'
import { findRoles } from './record-options.ts'
import { findRecord, getName } from './records.ts'
import {
  addScopeOptions,
  findScope,
  formatBinding,
  formatIds,
  isLimited,
  isSameScope,
  readScopeNames,
  type ScopeOptions,
} from './scopes.ts'
import { addListAction } from './watching.ts'

type User = Schema<'UserRecord'>
type Binding = Schema<'RoleBinding'>

interface BindingOptions extends ScopeOptions {
  role: string
}

const USER = 'e-mail, id, or name of a service account'

export function addBindings(program: Command): void {
  const bindings = addNoun(program, 'bindings', 'roles of users and service accounts, with their scopes', {
    show: 'use `slipway bindings list USER`',
    edit: 'create a binding with the other scope, and delete this one',
  })
  addListAction(bindings.command('list', LIST).argument('<user>', USER).description('list the roles of a user'), list)
  addScopeOptions(
    bindings
      .command('create')
      .argument('<user>', USER)
      .description('give a user a role; with a scope the role acts there only, and reads everywhere')
      .requiredOption('--role <name>', 'name of the role'),
  ).action(provideContext(create))
  addScopeOptions(
    bindings
      .command('delete')
      .argument('<user>', USER)
      .description('take a role from a user; name the scope as `list` shows it')
      .requiredOption('--role <name>', 'name of the role')
      .option('-y, --yes', DO_NOT_ASK),
  ).action(provideContext(remove))
}

/** A role without a scope is a binding to everything. */
export const listBindings = ({ roles, role_bindings }: Pick<User, 'roles' | 'role_bindings'>): Binding[] => [
  ...roles.map((role) => ({ role, environment_ids: null, solution_ids: null })),
  ...role_bindings,
]

async function list({ client, output }: Context, user: string): Promise<void> {
  const bindings = listBindings(await findRecord(client, 'user', user))
  const names = await readScopeNames(client, output.isForPeople ? bindings : [])
  output.printList(
    bindings,
    [
      ['ROLE', ({ role }) => role],
      ['ENVIRONMENTS', ({ environment_ids }) => formatIds(environment_ids, names)],
      ['SOLUTIONS', ({ solution_ids }) => formatIds(solution_ids, names)],
    ],
    'no roles',
    { getName: ({ role }) => role },
  )
}

async function create(context: Context, nameOrId: string, { role: given, ...options }: BindingOptions): Promise<void> {
  const { client } = context
  const [role = given] = (await findRoles(context, [given])) ?? []
  const user = await findRecord(client, 'user', nameOrId)
  const binding = { role, ...(await findScope(client, options)) }
  const others = listBindings(user).filter((one) => !isSameBinding(one, binding))
  await change(context, user, [...others, binding])
}

async function remove(
  context: Context,
  nameOrId: string,
  { role, yes = false, ...options }: BindingOptions & { yes?: boolean },
): Promise<void> {
  const { io, client } = context
  const user = await findRecord(client, 'user', nameOrId)
  const binding = { role, ...(await findScope(client, options)) }
  const bindings = listBindings(user)
  const others = bindings.filter((one) => !isSameBinding(one, binding))
  if (others.length === bindings.length) {
    const names = await readScopeNames(client, [...bindings, binding])
    const present = bindings.map((one) => `\n  ${formatBinding(one, names)}`).join('') || ' none'
    throw new RefusedError(
      `${sanitize(getName(user))} does not have the role ${formatBinding(binding, names)}; there are:${present}`,
    )
  }
  await requireConsent(io, `take the role ${sanitize(role)} from ${sanitize(getName(user))}`, { yes })
  await change(context, user, others)
}

const isSameBinding = (one: Binding, other: Binding) => one.role === other.role && isSameScope(one, other)

async function change({ client, output }: Context, { id }: User, bindings: readonly Binding[]): Promise<void> {
  const body = {
    roles: bindings.filter((one) => !isLimited(one)).map(({ role }) => role),
    role_bindings: bindings.filter(isLimited),
  }
  const user = await client.call('updateUser', { params: { id }, body })
  const names = await readScopeNames(client, output.isForPeople ? user.role_bindings : [])
  const shown = listBindings(user).map((one) => formatBinding(one, names))
  output.printRecord(user, () => [`roles of ${sanitize(getName(user))}: ${shown.join('; ') || 'none'}`])
}
