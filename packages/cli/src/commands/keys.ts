import type { Schema, SlipwayClient } from '@slipway/client'
import type { Command } from 'commander'
import { sanitize } from '../terminal/controls.ts'
import { requireConsent } from '../terminal/prompt.ts'
import { formatRecord } from '../terminal/record.ts'
import { showTime } from '../terminal/table.ts'
import { type Context, provideContext } from './context.ts'
import { chooseEntry } from './entries.ts'
import { addNoun, LIST } from './nouns.ts'
import { DO_NOT_ASK } from './record-commands.ts'
import { findId } from './records.ts'
import { addScopeOptions, findScope, formatScope, isLimited, readScopeNames, type ScopeOptions } from './scopes.ts'
import { collect, omitUndefined, parseIntegerBetween } from './values.ts'
import { addListAction } from './watching.ts'

const KEY_ARGUMENT = 'name or id of the key'

/** Finds one of the calling user's keys. */
export const findKey = async (client: SlipwayClient, nameOrId: string) =>
  await findKeyOf(client, { kind: 'caller' }, nameOrId)

/** Whose keys a command is about. */
type Owner = { kind: 'caller' } | { kind: 'account'; id: string }

const findOwner = async (client: SlipwayClient, account: string | undefined): Promise<Owner> =>
  account === undefined ? { kind: 'caller' } : { kind: 'account', id: await findId(client, 'service-account', account) }

async function listKeysOf(client: SlipwayClient, owner: Owner): Promise<Schema<'ApiKey'>[]> {
  if (owner.kind === 'caller') return (await client.call('listApiKeys')).api_keys
  return (await client.call('listUserApiKeys', { params: { id: owner.id } })).api_keys
}

const findKeyOf = async (client: SlipwayClient, owner: Owner, nameOrId: string): Promise<Schema<'ApiKey'>> =>
  chooseEntry('API key', await listKeysOf(client, owner), nameOrId)

const addAccountOption = (command: Command) =>
  command.option('--account <name>', 'the keys of this service account instead of your own, by name or id')

export function addKeys(program: Command): void {
  const keys = addNoun(program, 'keys', 'API keys of the calling user, or of a service account', {
    edit: 'create a key with the other scopes, and delete this one',
  })
  addListAction(addAccountOption(keys.command('list', LIST).description('list API keys, newest first')), list)
  const creation = keys
    .command('create')
    .argument('<name>', 'name of the key')
    .description('create an API key, which needs a login; the key is shown once')
    .option(
      '--scope <permission>',
      'a permission of the key; default: all permissions of its user (repeatable)',
      collect(String),
    )
    .option('--expires-in-days <number>', 'days until the key expires; default: never', parseIntegerBetween(1, 3_650))
    .option('--description <text>', 'purpose of the key')
  addAccountOption(addScopeOptions(creation)).action(provideContext(create))
  addAccountOption(keys.command('show'))
    .argument('<key>', KEY_ARGUMENT)
    .description('show all fields of one API key; the key itself is not shown again')
    .action(
      provideContext(async ({ client, output }, nameOrId: string, { account }: AccountOption) => {
        const key = await findKeyOf(client, await findOwner(client, account), nameOrId)
        output.printRecord(key, () => formatRecord('key', key, () => null))
      }),
    )
  addAccountOption(keys.command('delete'))
    .argument('<key>', KEY_ARGUMENT)
    .description('delete an API key: it stops working at once')
    .option('-y, --yes', DO_NOT_ASK)
    .action(provideContext(remove))
}

interface AccountOption {
  account?: string
}

async function list({ client, output }: Context, { account }: AccountOption): Promise<void> {
  const keys = await listKeysOf(client, await findOwner(client, account))
  const names = await readScopeNames(client, output.isForPeople ? keys : [])
  output.printList(
    keys,
    [
      ['ID', ({ id }) => id],
      ['NAME', ({ name }) => name],
      ['KEY', ({ key_prefix }) => key_prefix],
      ['SCOPES', ({ scopes }) => scopes.join(' ') || 'all'],
      ['ACTS', (key) => formatScope(key, names).trim() || 'everywhere'],
      ['LAST USED', ({ last_used_at }) => showTime(last_used_at)],
      ['EXPIRES', ({ expires_at }) => (expires_at === null ? 'never' : showTime(expires_at))],
    ],
    'no API keys',
  )
}

interface CreateOptions extends AccountOption, ScopeOptions {
  scope?: string[]
  expiresInDays?: number
  description?: string
}

async function create({ io, client, output }: Context, name: string, options: CreateOptions): Promise<void> {
  const { scope, expiresInDays, description } = options
  const scopes = scope as Schema<'CreateApiKey'>['scopes']
  const given = { name, scopes, expires_in_days: expiresInDays, description }
  const limits = await findScope(client, options)
  const body = { ...omitUndefined<Schema<'CreateApiKey'>>(given), ...(isLimited(limits) ? limits : {}) }
  const owner = await findOwner(client, options.account)
  const created =
    owner.kind === 'caller'
      ? await client.call('createApiKey', { body })
      : await client.call('createUserApiKey', { params: { id: owner.id }, body })
  // Print only the key on stdout, for `KEY=$(slipway keys create ci)`.
  if (output.isForPeople) io.stderr.write(`${created.warning}\n`)
  if (output.format === 'name') {
    // Otherwise the key is lost: it is not shown again.
    io.stderr.write(`${created.warning}: ${created.full_key}\n`)
    output.printNames([created.api_key.name])
  } else output.printRecord(created, () => [created.full_key])
}

async function remove(
  { io, client, output }: Context,
  nameOrId: string,
  { yes = false, account }: AccountOption & { yes?: boolean },
): Promise<void> {
  const owner = await findOwner(client, account)
  const { id, name } = await findKeyOf(client, owner, nameOrId)
  const shown = `${sanitize(name)} (${id})`
  await requireConsent(io, `delete key ${shown}`, { yes })
  if (owner.kind === 'caller') await client.call('deleteApiKey', { params: { id } })
  else await client.call('deleteUserApiKey', { params: { id: owner.id, key_id: id } })
  output.printRecord({ id, name, deleted: true }, () => [`deleted key ${shown}`])
}
