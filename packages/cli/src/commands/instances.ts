import type { Schema } from '@slipway/client'
import type { Command } from 'commander'
import { sanitize } from '../terminal/controls.ts'
import { requireConsent } from '../terminal/prompt.ts'
import { formatTime } from '../terminal/table.ts'
import { type Context, provideContext } from './context.ts'
import { chooseEntry } from './entries.ts'
import { formatLabels } from './kinds.ts'
import { take } from './lists.ts'
import { readNames } from './names.ts'
import { addListCommand, addShowCommand } from './record-commands.ts'
import { deleteRecord, findId, UUID } from './records.ts'
import { collect, omitUndefined, parseAllowedLabel, parseIntegerBetween, parseSeconds } from './values.ts'
import { addListAction } from './watching.ts'

export function addInstances(program: Command): void {
  const instances = program.command('instances').description('orchestration instances, which run deployments')
  addListCommand(instances, 'instance')
  addShowCommand(instances, 'instance')
  addGrants(instances)
  instances
    .command('remove')
    .alias('delete')
    .argument('<instance>', 'name or id of the instance')
    .description('remove an instance and release its name')
    .option('--force', 'even if it is online or runs deployments; other instances get these 30 s later')
    .option('-y, --yes', 'do not ask')
    .action(
      provideContext(async ({ io, client, output }, nameOrId: string, options: { force?: boolean; yes?: boolean }) => {
        const { force, yes = false } = options
        const id = await findId(client, 'instance', nameOrId)
        await requireConsent(io, `remove instance ${sanitize(nameOrId)}`, { yes, isOptional: true })
        await deleteRecord(client, 'instance', id, force ? { force: 'true' } : {})
        output.printRecord({ id, removed: true }, () => [`removed instance ${sanitize(nameOrId)}`])
      }),
    )
  for (const [name, draining, description] of [
    ['drain', true, 'let an instance finish its runs, and give it no new ones'],
    ['resume', false, 'give an instance new runs again'],
  ] as const) {
    instances
      .command(name)
      .argument('<instance>', 'name or id of the instance')
      .description(description)
      .action(
        provideContext(async (context, nameOrId: string) => {
          const id = await findId(context.client, 'instance', nameOrId)
          const instance = await context.client.call('updateInstance', { params: { id }, body: { draining } })
          context.output.printRecord(instance, () => [
            `instance ${sanitize(instance.name)} is ${instance.status} and runs ${instance.active} deployments`,
          ])
        }),
      )
  }
}

function addGrants(instances: Command): void {
  instances
    .command('join-token')
    .description('make a token with which orchestration instances join; the token is shown once')
    .option('--uses <number>', 'how many instances can join with it; default: 1', parseIntegerBetween(1, 1_000))
    .option('--expires <duration>', 'how long it is valid, such as 30m or 7d; default: 1h', parseSeconds)
    .option(
      '--label <key[=value]>',
      'a label that a joining instance may have; a key alone allows any value (repeatable)',
      collect(parseAllowedLabel),
    )
    .option('--tenant <tenant>', 'name or id of the only tenant that the instances serve; default: all tenants')
    .action(provideContext(createJoinToken))
  const grants = instances.command('join-tokens').description('tokens with which instances can join')
  const listing = grants.command('list').description('list tokens, newest first; the tokens themselves are not shown')
  addListAction(listing, listGrants)
  grants
    .command('revoke')
    .argument('<id>', 'id of the token: its part before the dot')
    .description('revoke a token; instances that joined with it stay')
    .action(
      provideContext(async ({ client, output }, given: string) => {
        const list = () => take(client.each('listInstanceGrants'))
        const id = UUID.test(given) ? given : chooseEntry('join token', await list(), given).id
        await client.call('revokeInstanceGrant', { params: { id } })
        output.printRecord({ id, revoked: true }, () => [`revoked join token ${id}`])
      }),
    )
}

interface TokenOptions {
  uses?: number
  expires?: number
  label?: [string, string | null][]
  tenant?: string
}

async function createJoinToken({ io, client, output }: Context, options: TokenOptions): Promise<void> {
  const { uses, expires, label, tenant } = options
  const body = omitUndefined<Schema<'CreateInstanceGrant'>>({
    uses,
    expires_in_seconds: expires,
    labels: label && Object.fromEntries(label),
    tenant_id: tenant === undefined ? undefined : await findId(client, 'tenant', tenant),
  })
  const grant = await client.call('createInstanceGrant', { body })
  // Print only the token on stdout, for `slipway instances join-token >token`.
  if (output.isForPeople) {
    const often = grant.uses === 1 ? 'one instance joins' : `${grant.uses} instances join`
    io.stderr.write(`${often} with this token until ${formatTime(grant.expires_at)}; it is not shown again\n`)
  }
  // A grant has no name, and its id without the token is of no use.
  if (output.format === 'name') output.printNames([grant.token])
  else output.printRecord(grant, () => [grant.token])
}

async function listGrants({ client, output }: Context): Promise<void> {
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
      ['EXPIRES', ({ expires_at }) => formatTime(expires_at)],
    ],
    'no grants',
  )
}
