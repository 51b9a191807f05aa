import type { Input } from '@slipway/client'
import type { Command } from 'commander'
import { UsageError } from '../exit-code.ts'
import { sanitize } from '../terminal/controls.ts'
import { type Context, provideContext } from './context.ts'
import { addRecordCommands } from './record-commands.ts'
import { findId } from './records.ts'
import { omitUndefined, parseIntegerBetween } from './values.ts'

interface EnvironmentOptions {
  name?: string
  position?: number | typeof NONE
  description?: string
  tenant?: string
}

const MAX_POSITION = 1_000_000
const parsePlace = parseIntegerBetween(0, MAX_POSITION)
const NONE = 'none'
/** Not null: Commander would make an empty text of it. */
const parsePosition = (text: string): number | typeof NONE => (text === NONE ? NONE : parsePlace(text))
const POSITION = 'place in lists and in the matrix: smaller numbers come first, and `none` after all numbers'

/** What an environment is made of beside this comes from catalog files. */
export function addEnvironments(program: Command): void {
  const environments = addRecordCommands(program, 'environments', 'environment', 'environments of targets')
  environments
    .command('create')
    .argument('<name>', 'name of the environment')
    .description('create an environment')
    .option('--position <number>', POSITION, parsePosition)
    .option('--description <text>', 'what it is for')
    .option('--tenant <name>', 'tenant that owns it, by name or id')
    .action(provideContext(create))
  environments
    .command('edit')
    .argument('<environment>', 'name or id of the environment')
    .description('edit the place, the name or the description of an environment')
    .option('--position <number>', POSITION, parsePosition)
    .option('--name <name>', 'new name')
    .option('--description <text>', 'new description')
    .action(provideContext(change))
}

const buildFields = ({ name, position, description }: EnvironmentOptions) =>
  omitUndefined<Input<'updateEnvironment'>['body']>({
    name,
    position: position === NONE ? null : position,
    description,
  })

async function create({ client, output }: Context, name: string, options: EnvironmentOptions): Promise<void> {
  const tenant_id = options.tenant === undefined ? undefined : await findId(client, 'tenant', options.tenant)
  const body = { ...buildFields(options), ...omitUndefined({ tenant_id }), name }
  const environment = await client.call('createEnvironment', { body })
  output.printRecord(environment, () => [`created environment ${sanitize(name)} (${environment.id})`])
}

async function change({ client, output }: Context, nameOrId: string, options: EnvironmentOptions): Promise<void> {
  const body = buildFields(options)
  if (Object.keys(body).length === 0)
    throw new UsageError('there is no change: give --position, --name or --description')
  const id = await findId(client, 'environment', nameOrId)
  const environment = await client.call('updateEnvironment', { params: { id }, body })
  output.printRecord(environment, () => [`changed environment ${sanitize(environment.name)}`])
}
