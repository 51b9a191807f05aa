import type { Input, Schema } from '@slipway/client'
import { type Command, Option } from 'commander'
import { harmless } from '../terminal/colour.ts'
import { ask, firstLineOfStdin } from '../terminal/prompt.ts'
import { timeText } from '../terminal/table.ts'
import { action, type Context } from './context.ts'
import { take } from './lists.ts'
import { findRecord, idOf } from './records.ts'
import { gather, given } from './values.ts'

interface UserOptions {
  email?: string
  username?: string
  displayName?: string
  role?: string[]
  tenant?: string
  status?: Schema<'CreateUser'>['status']
  passwordStdin?: boolean
}

const STATUS = new Option('--status <status>', 'whether they may do anything').choices([
  'active',
  'inactive',
  'suspended',
])

export function addUsers(program: Command): void {
  const users = program.command('users').description('who may log in')
  users
    .command('list')
    .description('list users, newest first')
    .option('--search <text>', 'only those whose name or e-mail contains it')
    .action(action(list))
  users
    .command('create')
    .argument('<email>', 'their e-mail address')
    .description('create a user')
    .requiredOption('--username <name>', 'what they are called where they did something')
    .option('--display-name <name>', 'their full name')
    .option('--role <name>', 'a role that they have (repeatable)', gather(String))
    .option('--tenant <name>', 'the tenant that they are bound to, by name or id')
    .addOption(STATUS)
    .option('--password-stdin', 'read the password from stdin; asked for on a terminal')
    .action(action(create))
  users
    .command('change')
    .argument('<user>', 'e-mail or id of the user')
    .description('change a user; roles are replaced as a whole')
    .option('--email <address>', 'their e-mail address')
    .option('--username <name>', 'what they are called where they did something')
    .option('--display-name <name>', 'their full name')
    .option('--role <name>', 'a role that they have from now on (repeatable)', gather(String))
    .addOption(STATUS)
    .option('--password-stdin', 'read a new password from stdin')
    .action(action(change))
  users
    .command('delete')
    .argument('<user>', 'e-mail or id of the user')
    .description('delete a user')
    .action(
      action(async ({ client, output }, meant: string) => {
        const { id, email } = (await findRecord(client, 'user', meant)) as Schema<'UserRecord'>
        await client.call('deleteUser', { params: { id } })
        await output.record({ id, email, deleted: true }, () => [`deleted user ${harmless(email)}`])
      }),
    )
}

async function list({ client, output }: Context, { search }: { search?: string }): Promise<void> {
  await output.list(
    await take(client.each('listUsers', { query: search ? { search } : {} }), Number.POSITIVE_INFINITY),
    [
      ['ID', ({ id }) => id],
      ['E-MAIL', ({ email }) => email],
      ['USER', ({ username }) => username],
      ['STATUS', ({ status }) => status],
      ['ROLES', ({ roles }) => roles.join(' ')],
      ['TENANT', ({ tenant_id }) => tenant_id],
      ['CREATED', ({ created_at }) => timeText(created_at)],
    ],
    'no users',
  )
}

/** What the options say of a user, by the API's names. */
const fieldsOf = ({ email, username, displayName, role, status }: UserOptions) =>
  given<Input<'updateUser'>['body']>({ email, username, display_name: displayName, roles: role, status })

async function create({ client, output }: Context, email: string, options: UserOptions): Promise<void> {
  const password = options.passwordStdin
    ? await firstLineOfStdin()
    : await ask('password of the new user', { hidden: true, instead: 'give --password-stdin' })
  const { tenant, username = '' } = options
  const body = {
    roles: [],
    ...fieldsOf(options),
    email,
    username,
    password,
    ...(tenant === undefined ? {} : { tenant_id: await idOf(client, 'tenant', tenant) }),
  }
  const user = await client.call('createUser', { body })
  await output.record(user, () => [`created user ${harmless(user.email)} (${user.id})`])
}

async function change({ client, output }: Context, meant: string, options: UserOptions): Promise<void> {
  const id = await idOf(client, 'user', meant)
  const body = { ...fieldsOf(options), ...(options.passwordStdin ? { password: await firstLineOfStdin() } : {}) }
  const user = await client.call('updateUser', { params: { id }, body })
  await output.record(user, () => [
    `user ${harmless(user.email)}: ${user.status}, ${user.roles.join(', ') || 'without roles'}`,
  ])
}
