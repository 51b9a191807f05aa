import { formatSelector } from '@slipway/client'
import type { Command } from 'commander'
import { sanitize } from '../terminal/controls.ts'
import { requireConsent } from '../terminal/prompt.ts'
import { formatRecord } from '../terminal/record.ts'
import { type Context, provideContext } from './context.ts'
import { KINDS, type Kind } from './kinds.ts'
import { take } from './lists.ts'
import { readNames } from './names.ts'
import { addNoun, LIST } from './nouns.ts'
import {
  deleteRecord,
  findId,
  findRecord,
  formatKind,
  getName,
  listRecords,
  type RecordByKind,
  type RecordKind,
} from './records.ts'
import { addListAction } from './watching.ts'

/** The commands that all kinds of records share: list, show and delete. */

export async function printRecords<K extends RecordKind>(
  { client, output }: Context,
  kind: K,
  records: readonly RecordByKind[K][],
  none = `no ${formatKind(kind)}s`,
): Promise<void> {
  const names = await readNames(client, output.isForPeople ? records : [])
  output.printList(records, (KINDS[kind] as Kind<K>).columns(names), none)
}

interface ListOptions {
  search?: string
  sort?: string
  tenant?: string
}

/** The server lists the columns of each list where it refuses one. */
export const SORT = 'order by this column, such as name; -name for the reverse order'

export function addListCommand(parent: Command, kind: RecordKind): Command {
  const command = parent
    .command('list', LIST)
    .description(`list ${formatKind(kind)}s, ${kind === 'environment' ? 'by position' : 'newest first'}`)
    .option('--search <text>', 'only those with this text in the name')
    .option('--sort <column>', SORT)
  if (kind !== 'tenant' && kind !== 'role')
    command.option('--tenant <name>', 'only those of this tenant, by name or id')
  return addListAction(command, async (context: Context, { search, sort, tenant }: ListOptions) => {
    const { client } = context
    const tenantId = tenant === undefined ? undefined : await findId(client, 'tenant', tenant)
    const records = await take(listRecords(client, kind, { ...(search ? { search } : {}), ...(sort ? { sort } : {}) }))
    const isWanted = (record: object) =>
      tenantId === undefined || ('tenant_id' in record && record.tenant_id === tenantId)
    await printRecords(context, kind, records.filter(isWanted))
  })
}

export function addShowCommand(parent: Command, kind: RecordKind): Command {
  return parent
    .command('show')
    .argument(`<${kind}>`, `name or id of the ${formatKind(kind)}`)
    .description(`show all fields of one ${formatKind(kind)}`)
    .action(
      provideContext(async ({ client, output }, nameOrId: string) => {
        const found = await findRecord(client, kind, nameOrId)
        // Lists leave out the versions of a source.
        const record = 'latest_version' in found ? await findRecord(client, kind, found.id) : found
        const names = await readNames(client, output.isForPeople ? [record] : [])
        output.printRecord(record, () => formatRecord(kind, withSelectorText(record), names))
      }),
    )
}

const withSelectorText = (record: RecordByKind[RecordKind]) =>
  'instance_selector' in record ? { ...record, instance_selector: formatSelector(record.instance_selector) } : record

interface DeleteOptions {
  yes?: boolean
  /** Of instances. */
  force?: boolean
}

export const DO_NOT_ASK = 'do not ask; needed without a terminal'

export function addDeleteCommand(parent: Command, kind: RecordKind): Command {
  const { deletion } = KINDS[kind]
  return parent
    .command('delete')
    .argument(`<${kind}>`, `name or id of the ${formatKind(kind)}`)
    .description(`delete one ${formatKind(kind)}${deletion === undefined ? '' : `; ${deletion}`}`)
    .option('-y, --yes', DO_NOT_ASK)
    .action(
      provideContext(async ({ io, client, output }, nameOrId: string, { yes = false, force }: DeleteOptions) => {
        const record = await findRecord(client, kind, nameOrId)
        const name = getName(record)
        await requireConsent(io, `delete ${formatKind(kind)} ${sanitize(name)}`, { yes })
        await deleteRecord(client, kind, record.id, force ? { force: 'true' } : {})
        output.printRecord({ id: record.id, ...pickName(record), deleted: true }, () => [
          `deleted ${formatKind(kind)} ${sanitize(name)}`,
        ])
      }),
    )
}

const pickName = (record: RecordByKind[RecordKind]) => {
  if ('email' in record) return record.email === null ? { username: record.username } : { email: record.email }
  return 'url' in record ? { url: record.url } : { name: record.name }
}

/** Adds a command for a kind of record with list, show and delete. */
export function addRecordCommands(program: Command, name: string, kind: RecordKind, description: string): Command {
  const parent = addNoun(program, name, description)
  addListCommand(parent, kind)
  addShowCommand(parent, kind)
  addDeleteCommand(parent, kind)
  return parent
}
