import path from 'node:path'
import type { Schema } from '@slipway/client'
import { type Command, Option } from 'commander'
import { UsageError } from '../exit-code.ts'
import { sanitize } from '../terminal/controls.ts'
import type { Context } from './context.ts'
import { addNeeds } from './needs.ts'
import type { Editing } from './record-commands.ts'
import {
  addDescription,
  addReference,
  type DescriptionOption,
  findReference,
  readOptionFile,
  requireOption,
  toNullable,
  type Verb,
} from './record-options.ts'
import { findId, findRecord, type RecordByKind, type SourceKind } from './records.ts'
import { collect, omitUndefined, parseIntegerBetween, parseSeconds } from './values.ts'

/** How actions, sequences and solutions are created, and how a version is published. */

interface SourceOptions extends DescriptionOption {
  name?: string
  sourceVersion?: string
  tenant?: string
}

/** What create, edit and a new version send. */
interface Fields<D> {
  name?: string
  description?: string | null
  version?: string
  definition?: D
  expected_updated_at?: string
}

interface Created<D> {
  name: string
  version: string
  definition: D
  description?: string | null
  tenant_id?: string | null
}

interface Published<D> {
  version: string
  definition: D
  expected_updated_at?: string
}

interface Calls<K extends SourceKind, D> {
  create: (context: Context, body: Created<D>) => Promise<RecordByKind[K] & { warnings: string[] }>
  publish: (context: Context, id: string, body: Published<D>) => Promise<{ warnings: string[] }>
  update: (context: Context, id: string, body: Omit<Fields<D>, 'version' | 'definition'>) => Promise<RecordByKind[K]>
  /** The definition of a published version. */
  read: (context: Context, id: string, version: string) => Promise<{ definition: unknown }>
}

interface Parts<O, D> {
  /** The flags of the options that make the definition; a new source needs the first. */
  flags: readonly string[]
  addOptions: (command: Command) => void
  /** Changes the definition of the latest version. */
  build: (context: Context, options: O, latest: D | undefined) => D | Promise<D>
}

const ABOUT = 'larger ones are easier to keep in catalog files (`slipway apply`)'

function describeSource<K extends SourceKind, O extends object, D extends object>(
  kind: K,
  calls: Calls<K, D>,
  parts: Parts<O, D>,
): Editing<K, SourceOptions & O, Fields<D>> {
  return {
    kind,
    about: {
      create: `publishes its first version; ${ABOUT}`,
      edit: '--source-version publishes the latest version with these changes under a new number',
    },
    addOptions(command: Command, verb: Verb) {
      if (verb === 'edit') command.option('--name <name>', 'new name')
      addDescription(command, verb)
      command.option(
        '--source-version <version>',
        verb === 'create' ? 'its version; default: 1.0.0' : 'the new version',
      )
      parts.addOptions(command)
      const [part] = parts.flags
      if (verb === 'create' && part !== undefined) requireOption(command, part)
      if (verb === 'edit') return addNeeds(command, parts.flags, ['--source-version'])
      return addReference(command, verb, 'tenant', 'the tenant that owns it')
    },
    async build(context, options, record) {
      const { name, description, sourceVersion } = options
      const version = record === undefined ? (sourceVersion ?? '1.0.0') : sourceVersion
      const latest = version === undefined ? undefined : await readLatest(context, calls, record)
      return omitUndefined<Fields<D>>({
        name,
        description: toNullable(description),
        version,
        definition: version === undefined ? undefined : await parts.build(context, options, latest),
        expected_updated_at: record?.updated_at,
      })
    },
    async create(context, name, { version, definition, description }, { tenant }) {
      if (version === undefined || definition === undefined) throw new Error(`a new ${kind} has a version`)
      const tenant_id = await findReference(context, 'tenant', tenant)
      const body = { name, version, definition, ...omitUndefined({ description, tenant_id }) }
      const created = await calls.create(context, body)
      context.output.warn(created.warnings)
      return created
    },
    async update(context, id, { version, definition, expected_updated_at, ...fields }) {
      let expected = omitUndefined({ expected_updated_at })
      let record: RecordByKind[K] | undefined
      if (Object.keys(fields).length > 0) {
        record = await calls.update(context, id, { ...fields, ...expected })
        expected = { expected_updated_at: record.updated_at }
      }
      if (version === undefined || definition === undefined)
        return record ?? (await findRecord(context.client, kind, id))
      context.output.warn((await calls.publish(context, id, { version, definition, ...expected })).warnings)
      return await findRecord(context.client, kind, id)
    },
    describe: (_, { latest_version }) => (latest_version === null ? '' : `, latest version ${latest_version}`),
  }
}

async function readLatest<K extends SourceKind, D>(
  context: Context,
  calls: Calls<K, D>,
  record: RecordByKind[K] | undefined,
): Promise<D | undefined> {
  if (record === undefined || record.latest_version === null) return undefined
  // The server made this definition of one that its schema allows.
  return (await calls.read(context, record.id, record.latest_version)).definition as D
}

interface ActionOptions {
  scriptFile?: string
  interpreter?: Schema<'ActionDefinition'>['interpreter']
  rollbackFile?: string
  checkFile?: string
  timeout?: number
  maxRetries?: number
}

const INTERPRETERS = ['sh', 'bash', 'python3', 'node', 'pwsh'] as const
/** @throws UsageError if the first line names a program that Slipway does not run */
function findInterpreter(file: string, script: string) {
  const [line] = /^#!.*/.exec(script) ?? []
  if (line === undefined) return undefined
  const words = line
    .slice(2)
    .trim()
    .split(/\s+/)
    .map((word) => path.posix.basename(word))
  // `#!/usr/bin/env -S node --no-warnings`
  const name = words[0] === 'env' ? words.slice(1).find((word) => !/^-|=/.test(word)) : words[0]
  const interpreter = INTERPRETERS.find((one) => one === name)
  if (interpreter !== undefined) return interpreter
  throw new UsageError(
    `${file}: the first line (${sanitize(line)}) names none of ${INTERPRETERS.join(', ')}: give --interpreter`,
  )
}

export const ACTION = describeSource<'action', ActionOptions, Schema<'ActionDefinition'>>(
  'action',
  {
    create: ({ client }, body) => client.call('createAction', { body }),
    publish: ({ client }, id, body) => client.call('createActionVersion', { params: { id }, body }),
    update: ({ client }, id, body) => client.call('updateAction', { params: { id }, body }),
    read: ({ client }, id, version) => client.call('getActionVersion', { params: { id, version } }),
  },
  {
    flags: ['--script-file', '--interpreter', '--rollback-file', '--check-file', '--timeout', '--max-retries'],
    addOptions: (command) =>
      command
        .option('--script-file <file>', 'the script that it runs')
        .addOption(
          new Option(
            '--interpreter <program>',
            'runs the script; default: as the first line of the file says, else sh',
          ).choices(INTERPRETERS),
        )
        .option('--rollback-file <file>', 'the script that undoes it')
        .option('--check-file <file>', 'the script that tells whether a target has drifted')
        .option('--timeout <duration>', 'how long an attempt may take, such as 10m', parseSeconds)
        .option('--max-retries <number>', 'how often a failed attempt is repeated', parseIntegerBetween(0, 10)),
    build: (_, { scriptFile, interpreter, rollbackFile, checkFile, timeout, maxRetries }, latest) => {
      const script = scriptFile === undefined ? latest?.script : readOptionFile(scriptFile)
      if (script === undefined) throw new UsageError('an action needs a script: give --script-file')
      return {
        ...latest,
        type: 'script',
        script,
        ...omitUndefined({
          interpreter: interpreter ?? (scriptFile === undefined ? undefined : findInterpreter(scriptFile, script)),
          rollback: rollbackFile === undefined ? undefined : { script: readOptionFile(rollbackFile) },
          check: checkFile === undefined ? undefined : { ...latest?.check, script: readOptionFile(checkFile) },
          timeout_seconds: timeout,
          max_retries: maxRetries,
        }),
      }
    },
  },
)

/** A part of a sequence or solution: `NAME`, or `NAME@RANGE` with a range of versions. */
async function findPart({ client }: Context, kind: SourceKind, given: string) {
  const at = given.lastIndexOf('@')
  const [name, range] = at > 0 ? [given.slice(0, at), given.slice(at + 1)] : [given, undefined]
  return { id: await findId(client, kind, name), ...omitUndefined({ version_requirement: range }) }
}

interface Part {
  id: string
  version_requirement?: string
  variables?: Record<string, unknown>
}

/**
 * Returns the whole list that the options give. A part that the latest version has keeps its variables, and its range unless the
 * option gives one.
 */
async function buildParts(context: Context, kind: SourceKind, given: readonly string[], latest: readonly Part[]) {
  const found = await Promise.all(given.map((one) => findPart(context, kind, one)))
  // A list may have a part twice, with other variables.
  const left = [...latest]
  return found.map((part): Part => {
    const at = left.findIndex(({ id }) => id === part.id)
    return at < 0 ? part : { ...left.splice(at, 1)[0], ...part }
  })
}

const PART = '(repeatable: the options name the whole list, in its order; NAME@^1.0.0 for a range of versions)'

export const SEQUENCE = describeSource<'sequence', { action?: string[] }, Schema<'SequenceDefinition'>>(
  'sequence',
  {
    create: ({ client }, body) => client.call('createSequence', { body }),
    publish: ({ client }, id, body) => client.call('createSequenceVersion', { params: { id }, body }),
    update: ({ client }, id, body) => client.call('updateSequence', { params: { id }, body }),
    read: ({ client }, id, version) => client.call('getSequenceVersion', { params: { id, version } }),
  },
  {
    flags: ['--action'],
    addOptions: (command) => command.option('--action <action>', `the action ${PART}`, collect(String)),
    async build(context, { action }, latest) {
      if (action === undefined && latest === undefined)
        throw new UsageError('a sequence needs actions: give --action NAME for each')
      if (latest !== undefined && action === undefined) return latest
      const known = latest?.actions.map(({ action_id: id, ...rest }) => ({ id, ...rest })) ?? []
      const parts = await buildParts(context, 'action', action ?? [], known)
      return { ...latest, actions: parts.map(({ id: action_id, ...rest }) => ({ action_id, ...rest })) }
    },
  },
)

export const SOLUTION = describeSource<'solution', { sequence?: string[] }, Schema<'SolutionDefinition'>>(
  'solution',
  {
    create: ({ client }, body) => client.call('createSolution', { body }),
    publish: ({ client }, id, body) => client.call('createSolutionVersion', { params: { id }, body }),
    update: ({ client }, id, body) => client.call('updateSolution', { params: { id }, body }),
    read: ({ client }, id, version) => client.call('getSolutionVersion', { params: { id, version } }),
  },
  {
    flags: ['--sequence'],
    addOptions: (command) => command.option('--sequence <sequence>', `the sequence ${PART}`, collect(String)),
    async build(context, { sequence }, latest) {
      if (sequence === undefined && latest === undefined)
        throw new UsageError('a solution needs sequences: give --sequence NAME for each')
      if (latest !== undefined && sequence === undefined) return latest
      const known = latest?.sequences.map(({ sequence_id: id, ...rest }) => ({ id, ...rest })) ?? []
      const parts = await buildParts(context, 'sequence', sequence ?? [], known)
      return { ...latest, sequences: parts.map(({ id: sequence_id, ...rest }) => ({ sequence_id, ...rest })) }
    },
  },
)
