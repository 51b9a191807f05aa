import { formatSelector } from '@slipway/client'
import type { Command } from 'commander'
import { UsageError } from '../exit-code.ts'
import { sanitize } from '../terminal/controls.ts'
import { requireConsent } from '../terminal/prompt.ts'
import { formatRecord } from '../terminal/record.ts'
import { type Context, provideContext } from './context.ts'
import { nameFields } from './field-names.ts'
import { KINDS, type Kind } from './kinds.ts'
import { take } from './lists.ts'
import { readNames } from './names.ts'
import { addNoun, LIST } from './nouns.ts'
import type { Verb } from './record-options.ts'
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

/** The commands that all kinds of records share: list, show, create, edit and delete. */

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

export function addListCommand<K extends RecordKind>(
  parent: Command,
  kind: K,
  /** Whether options of this kind alone choose the record. */
  isWanted: (record: RecordByKind[K], options: object) => boolean = () => true,
): Command {
  const command = parent
    .command('list', LIST)
    .description(`list ${formatKind(kind)}s, ${kind === 'environment' ? 'by position' : 'newest first'}`)
    .option('--search <text>', 'only those with this text in the name')
    .option('--sort <column>', SORT)
  if (kind !== 'tenant' && kind !== 'role')
    command.option('--tenant <name>', 'only those of this tenant, by name or id')
  return addListAction(command, async (context: Context, options: ListOptions) => {
    const { client } = context
    const { search, sort, tenant } = options
    const tenantId = tenant === undefined ? undefined : await findId(client, 'tenant', tenant)
    const records = await take(listRecords(client, kind, { ...(search ? { search } : {}), ...(sort ? { sort } : {}) }))
    const isOfTenant = (record: object) =>
      tenantId === undefined || ('tenant_id' in record && record.tenant_id === tenantId)
    await printRecords(
      context,
      kind,
      records.filter((record) => isOfTenant(record) && isWanted(record, options)),
    )
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

/** Options with another name than their field. */
const FIELD_NAMES = {
  variables: '--var',
  sensitive_variables: '--sensitive',
  instance_selector: '--instances',
  version: '--source-version',
  'connection/type': '--connection',
  'connection/host': '--host',
  'connection/port': '--port',
  'connection/username': '--user',
  'connection/private_key': '--key-file',
  'connection/password': '--password-stdin',
  'connection/host_key': '--host-key',
  'connection/duration_ms': '--duration',
  'connection/exit_code': '--exit-code',
  'connection/failure_rate': '--failure-rate',
  'definition/script': '--script-file',
  'definition/interpreter': '--interpreter',
  'definition/rollback': '--rollback-file',
  'definition/check': '--check-file',
  'definition/timeout_seconds': '--timeout',
  'definition/max_retries': '--max-retries',
  'definition/actions': '--action',
  'definition/sequences': '--sequence',
}

/** How a kind of record is created and edited. `O` are the options of both, `F` the fields of a change in the API. */
export interface Editing<K extends RecordKind, O extends object, F extends object> {
  kind: K
  /** What `create` takes beside options. Default: the name. */
  argument?: readonly [name: string, description: string]
  addOptions: (command: Command, verb: Verb) => Command
  /**
   * Returns the fields that the options give. `record` is the one to edit; with its `expected_updated_at`, an edit does not undo
   * another one that came in between.
   */
  build: (context: Context, options: O, record?: RecordByKind[K]) => F | Promise<F>
  create: (context: Context, name: string, fields: F, options: O) => Promise<RecordByKind[K]>
  update: (context: Context, id: string, fields: F) => Promise<RecordByKind[K]>
  /** What the answer says about a record beside its name. */
  describe?: (context: Context, record: RecordByKind[K]) => string | Promise<string>
  /** What the help says about both beside the verb. */
  about?: Partial<Record<Verb, string>>
}

export function addCreateCommand<K extends RecordKind, O extends object, F extends object>(
  parent: Command,
  {
    kind,
    argument = ['name', 'its name'],
    addOptions,
    build,
    create,
    describe = () => '',
    about = {},
  }: Editing<K, O, F>,
): Command {
  const command = nameFields(parent.command('create'), FIELD_NAMES).argument(`<${argument[0]}>`, argument[1])
  return addOptions(command.description(describeVerb('create', kind, about)), 'create').action(
    provideContext(async (context, name: string, options: O) => {
      const record = await create(context, name, await build(context, options), options)
      const more = await describe(context, record)
      context.output.printRecord(record, () => [
        `created ${formatKind(kind)} ${sanitize(getName(record))} (${'sqid' in record ? record.sqid : record.id})${more}`,
      ])
    }),
  )
}

export function addEditCommand<K extends RecordKind, O extends object, F extends object>(
  parent: Command,
  { kind, addOptions, build, update, describe = () => '', about = {} }: Editing<K, O, F>,
): Command {
  const command = nameFields(parent.command('edit'), FIELD_NAMES).argument(
    `<${kind}>`,
    `name or id of the ${formatKind(kind)}`,
  )
  return addOptions(command.description(describeVerb('edit', kind, about)), 'edit').action(
    provideContext(async (context, nameOrId: string, options: O) => {
      if (Object.keys(options).length === 0) {
        const known = command.options.map(({ long }) => long).filter((long) => !/^--(no|remove)-/.test(long ?? ''))
        throw new UsageError(`there is nothing to edit: give at least one of ${known.join(', ')}`)
      }
      const found = await findRecord(context.client, kind, nameOrId)
      const record = await update(context, found.id, await build(context, options, found))
      const more = await describe(context, record)
      context.output.printRecord(record, () => [`edited ${formatKind(kind)} ${sanitize(getName(record))}${more}`])
      if ('managed_by' in record && record.managed_by) {
        context.output.warn([
          `the files of ${record.managed_by} describe it: the next \`slipway apply\` of them undoes this`,
        ])
      }
    }),
  )
}

const describeVerb = (verb: Verb, kind: RecordKind, about: Partial<Record<Verb, string>>) =>
  `${verb} ${/^[aei]/.test(kind) ? 'an' : 'a'} ${formatKind(kind)}${about[verb] ? `; ${about[verb]}` : ''}`

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

/** Adds a noun with all verbs. */
export function addRecordCommands<K extends RecordKind, O extends object, F extends object>(
  program: Command,
  name: string,
  description: string,
  editing: Editing<K, O, F>,
): Command {
  const parent = addNoun(program, name, description)
  addListCommand(parent, editing.kind)
  addVerbs(parent, editing)
  return parent
}

/** Adds the verbs beside `list`. */
export function addVerbs<K extends RecordKind, O extends object, F extends object>(
  parent: Command,
  editing: Editing<K, O, F>,
): void {
  addShowCommand(parent, editing.kind)
  addCreateCommand(parent, editing)
  addEditCommand(parent, editing)
  addDeleteCommand(parent, editing.kind)
}
