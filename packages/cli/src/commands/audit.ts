import type { Input, Item, SlipwayClient } from '@slipway/client'
import type { Command } from 'commander'
import { showTime } from '../terminal/table.ts'
import type { Context } from './context.ts'
import { nameFields } from './field-names.ts'
import { findKey } from './keys.ts'
import { take } from './lists.ts'
import { findId, UUID } from './records.ts'
import { parsePastTime } from './times.ts'
import { collect, parseIntegerBetween } from './values.ts'
import { addListAction } from './watching.ts'

interface AuditOptions {
  action?: string
  excludeAction?: string[]
  resourceType?: string
  resource?: string
  actor?: string
  apiKey?: string
  since?: string
  until?: string
  limit: number
}

export function addAudit(program: Command): void {
  const command = program
    .command('audit')
    .description('show audit records of changes and refusals, newest first')
    .option('--action <name>', 'only this action, for example deployment.create')
    .option('--exclude-action <name>', 'not this action, for example auth.refresh (repeatable)', collect(String))
    .option('--resource-type <type>', 'only changes of this kind of record, for example deployment')
    .option('--resource <id>', 'only changes of this record')
    .option('--actor <user>', 'only changes by this user or service account: e-mail, name or id')
    .option(
      '--api-key <key>',
      'only calls with this API key: name or id of your own; the id of another or a deleted one',
    )
    .option('--since <time>', 'only those since then: 2h or 7d (ago), yesterday, "2026-01-31 09:00"', parsePastTime)
    .option('--until <time>', 'only those before', parsePastTime)
    .option('--limit <number>', 'how many records to show', parseIntegerBetween(1, 1_000_000), 50)
  nameFields(command, { from: '--since', to: '--until' })
  addListAction(command, listAuditRecords)
}

/** The list of keys has only the caller's, and no deleted ones. */
const findKeyId = async (client: SlipwayClient, nameOrId: string) =>
  UUID.test(nameOrId) ? nameOrId : (await findKey(client, nameOrId)).id

/** Most records of the log hold the name of what was changed. */
function getRecordName({ details, resource_id }: Item<'listAuditLogs'>): string | null {
  const name = details['name'] ?? details['email']
  return typeof name === 'string' ? name : resource_id
}

/** What a record of a start that overrides something has, and how a sentence calls it. */
const OVERRIDES = { freeze_override: 'freeze', rules_override: 'rules' }

/** For example `INVALID_TOKEN (used_before)`, or `done, freeze overridden: urgent fix`. */
function getOutcome({ details }: Item<'listAuditLogs'>): string {
  const { code, reason } = details
  if (typeof code === 'string') return typeof reason === 'string' ? `${code} (${reason})` : code
  const overrides = Object.entries(OVERRIDES).flatMap(([field, what]) => {
    const override: unknown = details[field]
    const given =
      typeof override === 'object' && override !== null && 'reason' in override ? override.reason : undefined
    return typeof given === 'string' ? [`, ${what} overridden: ${given}`] : []
  })
  return ['done', ...overrides].join('')
}

async function listAuditRecords({ client, output }: Context, options: AuditOptions): Promise<void> {
  const { action: name, excludeAction, resourceType, resource, actor, since, until } = options
  const apiKey = options.apiKey === undefined ? undefined : await findKeyId(client, options.apiKey)
  const filters = {
    action: name,
    exclude_action: excludeAction?.join(','),
    resource_type: resourceType,
    resource_id: resource,
    actor_id: actor === undefined || UUID.test(actor) ? actor : await findId(client, 'user', actor),
    api_key_id: apiKey,
    from: since,
    to: until,
  }
  const query = filters as NonNullable<Input<'listAuditLogs'>['query']>
  output.printList(
    await take(client.each('listAuditLogs', { query }), options.limit),
    [
      ['AT', ({ at }) => showTime(at)],
      ['WHO', ({ actor_name }) => actor_name],
      ['API KEY', ({ api_key_name }) => api_key_name],
      ['FROM', ({ actor_ip }) => actor_ip],
      ['ACTION', (record) => record.action],
      ['RECORD', getRecordName],
      ['OUTCOME', getOutcome],
    ],
    'no records',
  )
}
