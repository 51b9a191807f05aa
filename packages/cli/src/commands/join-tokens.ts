import type { Schema, SlipwayClient } from '@slipway/client'
import type { Command } from 'commander'
import { requireConsent } from '../terminal/prompt.ts'
import { formatRecord } from '../terminal/record.ts'
import { formatTime, showTime } from '../terminal/table.ts'
import { type Context, provideContext } from './context.ts'
import { chooseEntry } from './entries.ts'
import { formatLabels } from './kinds.ts'
import { take } from './lists.ts'
import { readNames } from './names.ts'
import { addNoun, LIST } from './nouns.ts'
import { DO_NOT_ASK } from './record-commands.ts'
import { findId } from './records.ts'
import { collect, omitUndefined, parseAllowedLabel, parseIntegerBetween, parseSeconds } from './values.ts'
import { addListAction } from './watching.ts'

const TOKEN = 'id of the token: its part before the dot'

export function addJoinTokens(program: Command): void {
  const tokens = addNoun(program, 'join-tokens', 'tokens with which instances join', {
    edit: 'delete the token, and create another one',
  })
  addListAction(
    tokens.command('list', LIST).description('list tokens, newest first; the tokens themselves are not shown'),
    list,
  )
  tokens
    .command('show')
    .argument('<id>', TOKEN)
    .description('show all fields of one token; the token itself is not shown again')
    .action(
      provideContext(async ({ client, output }, given: string) => {
        const grant = await findGrant(client, given)
        const names = await readNames(client, output.isForPeople ? [grant] : [])
        output.printRecord(grant, () => formatRecord('join-token', grant, names))
      }),
    )
  tokens
    .command('create')
    .description('make a token with which instances join; the token is shown once')
    .option('--uses <number>', 'how many instances can join with it; default: 1', parseIntegerBetween(1, 1_000))
    .option('--expires <duration>', 'how long it is valid, such as 30m or 7d; default: 1h', parseSeconds)
    .option(
      '--label <key[=value]>',
      'a label that a joining instance may have; a key alone allows any value (repeatable)',
      collect(parseAllowedLabel),
    )
    .option('--tenant <tenant>', 'name or id of the only tenant that the instances serve; default: all tenants')
    .action(provideContext(create))
  tokens
    .command('delete')
    .argument('<id>', TOKEN)
    .description('delete a token; instances that joined with it stay')
    .option('-y, --yes', DO_NOT_ASK)
    .action(
      provideContext(async ({ io, client, output }, given: string, { yes = false }: { yes?: boolean }) => {
        const { id } = await findGrant(client, given)
        await requireConsent(io, `delete join token ${id}`, { yes })
        await client.call('revokeInstanceGrant', { params: { id } })
        output.printRecord({ id, deleted: true }, () => [`deleted join token ${id}`])
      }),
    )
}

const findGrant = async (client: SlipwayClient, given: string) =>
  chooseEntry('join token', await take(client.each('listInstanceGrants')), given)

interface TokenOptions {
  uses?: number
  expires?: number
  label?: [string, string | null][]
  tenant?: string
}

async function create({ io, client, output }: Context, options: TokenOptions): Promise<void> {
  const { uses, expires, label, tenant } = options
  const body = omitUndefined<Schema<'CreateInstanceGrant'>>({
    uses,
    expires_in_seconds: expires,
    labels: label && Object.fromEntries(label),
    tenant_id: tenant === undefined ? undefined : await findId(client, 'tenant', tenant),
  })
  const grant = await client.call('createInstanceGrant', { body })
  // Print only the token on stdout, for `slipway join-tokens create >token`.
  if (output.isForPeople) {
    const often = grant.uses === 1 ? 'one instance joins' : `${grant.uses} instances join`
    io.stderr.write(`${often} with this token until ${formatTime(grant.expires_at)}; it is not shown again\n`)
  }
  // A grant has no name, and its id without the token is of no use.
  if (output.format === 'name') output.printNames([grant.token])
  else output.printRecord(grant, () => [grant.token])
}

async function list({ client, output }: Context): Promise<void> {
  const grants = await take(client.each('listInstanceGrants'))
  const names = await readNames(client, output.isForPeople ? grants : [])
  output.printList(
    grants,
    [
      ['ID', ({ id }) => id],
      ['STATUS', ({ status }) => status],
      ['USED', ({ used, uses }) => `${used} of ${uses}`],
      ['LABELS', ({ labels }) => formatLabels(labels) || 'none'],
      ['TENANT', ({ tenant_id }) => names(tenant_id) ?? 'all'],
      ['EXPIRES', ({ expires_at }) => showTime(expires_at)],
    ],
    'no join tokens',
  )
}
