import type { Schema, SlipwayClient } from '@slipway/client'
import type { Command } from 'commander'
import { sanitize } from '../terminal/controls.ts'
import { requireConsent } from '../terminal/prompt.ts'
import { formatRecord } from '../terminal/record.ts'
import { formatTime } from '../terminal/table.ts'
import { type Context, provideContext } from './context.ts'
import { chooseEntry } from './entries.ts'
import { addScopeOptions, findScope, formatScope, isLimited, readScopeNames, type ScopeOptions } from './scopes.ts'
import { collect, omitUndefined, parseIntegerBetween } from './values.ts'
import { addListAction } from './watching.ts'

const KEY_ARGUMENT = 'name or id of the key'

/** Finds one of the calling user's keys. */
export async function findKey(client: SlipwayClient, nameOrId: string): Promise<Schema<'ApiKey'>> {
  return chooseEntry('API key', (await client.call('listApiKeys')).api_keys, nameOrId)
}

export function addKeys(program: Command): void {
  const keys = program.command('keys').description('API keys of the calling user')
  addListAction(keys.command('list').description('list API keys, newest first'), list)
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
  addScopeOptions(creation).action(provideContext(create))
  keys
    .command('show')
    .alias('get')
    .argument('<key>', KEY_ARGUMENT)
    .description('show all fields of one API key; the key itself is not shown again')
    .action(
      provideContext(async ({ client, output }, nameOrId: string) => {
        const key = await findKey(client, nameOrId)
        output.printRecord(key, () => formatRecord('key', key, () => null))
      }),
    )
  keys
    .command('delete')
    .argument('<key>', KEY_ARGUMENT)
    .description('revoke an API key')
    .option('-y, --yes', 'do not ask')
    .action(provideContext(remove))
}

async function list({ client, output }: Context): Promise<void> {
  const { api_keys: keys } = await client.call('listApiKeys')
  const names = await readScopeNames(client, output.isForPeople ? keys : [])
  output.printList(
    keys,
    [
      ['ID', ({ id }) => id],
      ['NAME', ({ name }) => name],
      ['KEY', ({ key_prefix }) => key_prefix],
      ['SCOPES', ({ scopes }) => scopes.join(' ') || 'all'],
      ['ACTS', (key) => formatScope(key, names).trim() || 'everywhere'],
      ['LAST USED', ({ last_used_at }) => formatTime(last_used_at)],
      ['EXPIRES', ({ expires_at }) => (expires_at === null ? 'never' : formatTime(expires_at))],
    ],
    'no API keys',
  )
}

interface CreateOptions extends ScopeOptions {
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
  const created = await client.call('createApiKey', { body })
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
  { yes = false }: { yes?: boolean },
): Promise<void> {
  const { id, name } = await findKey(client, nameOrId)
  const shown = `${sanitize(name)} (${id})`
  await requireConsent(io, `revoke key ${shown}`, { yes, isOptional: true })
  await client.call('deleteApiKey', { params: { id } })
  output.printRecord({ id, name, deleted: true }, () => [`revoked key ${shown}`])
}
