import { PermissionError, parseSelector, SelectorSyntaxError } from '@slipway/client'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { RefusedError } from '../exit-code.ts'
import { NotUtf8Error, readTextFile } from '../files/text-file.ts'
import type { Context } from './context.ts'
import { findId, findRecord, type RecordKind } from './records.ts'
import { collect, parseAssignment, readVariables } from './values.ts'

/** Options that `create` and `edit` of several kinds share, and the fields of the API that they give. */

export type Verb = 'create' | 'edit'

/** Adds an option for one value. `edit` also has `--no-…`, which takes the value away. */
export function addValueOption(
  command: Command,
  verb: Verb,
  flags: string,
  description: string,
  parse: (text: string) => unknown = String,
): Command {
  const option = new Option(flags, description).argParser(parse)
  command.addOption(option)
  const name = option.long?.slice(2)
  return verb === 'create' ? command : command.option(`--no-${name}`, `without ${name?.replaceAll('-', ' ')}`)
}

/** What such an option may give: false for `--no-…`. */
export type Given<T> = T | false

export const toNullable = <T>(given: Given<T> | undefined): T | null | undefined => (given === false ? null : given)

/** Makes an option that `create` cannot do without. */
export function requireOption(command: Command, flag: string): Command {
  const option = command.options.find(({ long }) => long === flag)
  if (option === undefined) throw new Error(`${command.name()} has no option ${flag}`)
  option.makeOptionMandatory()
  return command
}

/** Adds an option for several values. In `edit` it adds to those of the record, and `--remove-…` takes away. */
export function addSetOption<T>(
  command: Command,
  verb: Verb,
  flags: string,
  description: string,
  parse: (text: string) => T,
): Command {
  const [long = '', argument = ''] = flags.split(' ')
  if (verb === 'create') return command.option(flags, `${description} (repeatable)`, collect(parse))
  return command
    .option(flags, `add ${description} (repeatable)`, collect(parse))
    .option(`--remove-${long.slice(2)} ${argument}`, `take away ${description} (repeatable)`, collect(parse))
}

/** Returns the values of a record with those that are added, and without those that are removed. */
export function mergeSet<T>(
  what: string,
  current: readonly T[],
  added: readonly T[] | undefined,
  removed: readonly T[] | undefined,
  format: (value: T) => string = String,
): T[] | undefined {
  if (added === undefined && removed === undefined) return undefined
  const values = new Map([...current, ...(added ?? [])].map((value) => [format(value), value]))
  for (const name of (removed ?? []).map(format)) {
    if (values.delete(name)) continue
    throw new RefusedError(
      `there is no ${what} "${name}" to remove (there are: ${[...values.keys()].join(', ') || 'none'})`,
    )
  }
  return [...values.values()]
}

export interface DescriptionOption {
  description?: Given<string>
}
export const addDescription = (command: Command, verb: Verb): Command =>
  addValueOption(command, verb, '--description <text>', 'what it is for')

/** Adds an option that names another record. */
export const addReference = (command: Command, verb: Verb, kind: RecordKind, description: string): Command =>
  addValueOption(
    command,
    verb,
    `${kind === 'environment' ? '-e, ' : ''}--${kind} <name>`,
    `${description}, by name or id`,
  )

export async function findReference(
  { client }: Context,
  kind: RecordKind,
  given: Given<string> | undefined,
): Promise<string | null | undefined> {
  return typeof given === 'string' ? await findId(client, kind, given) : toNullable<string>(given)
}

/** Returns the names of roles as the server spells them. Whoever may not read roles gets the refusal of the server. */
export async function findRoles(
  { client }: Context,
  names: readonly string[] | undefined,
): Promise<string[] | undefined> {
  if (names === undefined) return undefined
  const find = async (name: string) => {
    try {
      return (await findRecord(client, 'role', name)).name
    } catch (error) {
      if (error instanceof PermissionError) return name
      throw error
    }
  }
  return await Promise.all(names.map(find))
}

export interface VariableOptions {
  var?: [string, unknown][]
  varFile?: string[]
  sensitive?: string[]
  removeVar?: string[]
}

export function addVariableOptions(command: Command, verb: Verb): Command {
  command
    .option(
      '--var <name=text>',
      'a variable; NAME:=JSON for numbers and booleans (repeatable)',
      collect(parseAssignment),
    )
    .option('--var-file <file>', 'variables from YAML, JSON or NAME=TEXT lines (repeatable)', collect(String))
    .option(
      '--sensitive <name>',
      'the value of this variable is secret: it is never shown (repeatable). --var-file keeps it out of the list of processes',
      collect(String),
    )
  return verb === 'create'
    ? command
    : command.option('--remove-var <name>', 'take away a variable (repeatable)', collect(String))
}

interface Variables {
  variables?: Record<string, unknown>
  sensitive_variables?: string[]
}

/** The API replaces all variables. It keeps a secret value that is sent as it is shown. */
export function buildVariables(options: VariableOptions, current: Variables = {}): Variables {
  const { sensitive, removeVar } = options
  const given = readVariables(options.varFile, options.var)
  if (given === undefined && sensitive === undefined && removeVar === undefined) return {}
  const { variables = {}, sensitive_variables = [] } = current
  const names = mergeSet('variable', Object.keys({ ...variables, ...given }), [], removeVar) ?? []
  const values: Record<string, unknown> = { ...variables, ...given }
  return {
    variables: Object.fromEntries(names.map((name) => [name, values[name]])),
    sensitive_variables: [...new Set([...sensitive_variables, ...(sensitive ?? [])])].filter(
      (name) => names.includes(name) || sensitive?.includes(name),
    ),
  }
}

export interface SelectorOption {
  instances?: ReturnType<typeof parseSelector> | false
}
export const addSelector = (command: Command, verb: Verb): Command =>
  addValueOption(
    command,
    verb,
    '--instances <selector>',
    'labels of the instances that may run deployments here, such as "zone=eu, gpu"',
    parseInstances,
  )

function parseInstances(text: string): ReturnType<typeof parseSelector> {
  try {
    return parseSelector(text)
  } catch (error) {
    if (error instanceof SelectorSyntaxError) throw new InvalidArgumentError(error.message)
    throw error
  }
}

const POLICIES = ['allow', 'queue', 'reject', 'supersede'] as const
export interface ConcurrencyOption {
  concurrency?: Given<(typeof POLICIES)[number]>
}
export const addConcurrency = (command: Command, verb: Verb): Command => {
  const option = new Option(
    '--concurrency <policy>',
    'what happens to a deployment while another one works on the target',
  ).choices(POLICIES)
  command.addOption(option)
  return verb === 'create' ? command : command.option('--no-concurrency', 'without a policy of its own')
}

const YES_NO = { yes: true, no: false }
export type YesNo = keyof typeof YES_NO
export const isYes = (answer: YesNo | undefined): boolean | undefined => answer && YES_NO[answer]
export const addYesNo = (command: Command, flag: string, description: string): Command =>
  command.addOption(new Option(`${flag} <answer>`, description).choices(Object.keys(YES_NO)))

/** Reads a file that an option names. */
export function readOptionFile(file: string): string {
  try {
    return readTextFile(file)
  } catch (error) {
    if (error instanceof NotUtf8Error) throw new RefusedError(`${file}:${error.line}: ${error.message}`)
    const { code } = error as NodeJS.ErrnoException
    throw new RefusedError(`${file}: ${code === 'ENOENT' ? 'there is no such file' : `cannot be read (${code})`}`)
  }
}
