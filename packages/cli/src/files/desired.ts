import { type Interpreter, prepareScript } from '@slipway/contracts'
import type { FileKind } from './kinds.ts'
import type { CatalogEntry } from './load.ts'

/** The record that a file describes, in the format of the API. */

/** Returns the id of a record by its name, or null if this run will create the record. */
export type IdResolver = (kind: FileKind, name: string, pointer: string) => string | null

/** Replaces the id of a record that does not exist yet. */
const NOT_CREATED_YET = '(created with this)'

const SOURCES: ReadonlySet<FileKind> = new Set(['action', 'sequence', 'solution'])
export const isSource = (kind: FileKind) => SOURCES.has(kind)

type Body = Record<string, unknown>

/**
 * Builds the body that creates the record. A field that the file leaves out has its default. Three fields have no
 * default here, so an update does not change them: `slug`, `sensitive_variables`, `enabled`.
 */
export function buildDesiredBody({ kind, value, tenant }: CatalogEntry, resolve: IdResolver): Body {
  const { kind: _, tenant: __, environment, solution, definition, ...rest } = value
  const refer = (field: string, of: FileKind, name: unknown) => ({
    [`${field}_id`]: name === undefined ? null : (resolve(of, name as string, `/${field}`) ?? NOT_CREATED_YET),
  })
  const owner = kind === 'tenant' ? {} : refer('tenant', 'tenant', tenant ?? undefined)
  const common = { description: null, ...rest, ...owner }
  switch (kind) {
    case 'tenant':
      return { variables: {}, instance_selector: null, ...common }
    case 'environment':
      return {
        variables: {},
        instance_selector: null,
        concurrency: null,
        position: null,
        ...common,
        rules: wantedRules(value['rules'], resolve),
      }
    case 'target':
      return {
        tags: [],
        variables: {},
        instance_selector: null,
        concurrency: null,
        ...common,
        ...refer('environment', 'environment', environment),
      }
    case 'freeze':
      return {
        recurrence: null,
        ...common,
        ...refer('environment', 'environment', environment),
        ...refer('solution', 'solution', solution),
      }
    default:
      return { ...common, definition: buildWantedDefinition(kind, definition as Body, resolve) }
  }
}

/** The rules with all their defaults, as the server shows them. */
function wantedRules(given: unknown, resolve: IdResolver): Body | null {
  if (given === undefined || given === null) return null
  const { approvals, windows, promotion } = given as { approvals?: Body; windows?: Body[]; promotion?: Body }
  const from =
    promotion && resolve('environment', String(promotion['from_environment']), '/rules/promotion/from_environment')
  return {
    ...(approvals && {
      approvals: { count: 1, role: null, allow_author: false, expires_in_seconds: 86_400, ...approvals },
    }),
    ...(windows && { windows: windows.map((window) => ({ recurrence: null, time_zone: null, ...window })) }),
    ...(promotion && { promotion: { from_environment_id: from ?? NOT_CREATED_YET, hours: promotion['hours'] ?? 0 } }),
  }
}

function buildWantedDefinition(kind: FileKind, definition: Body, resolve: IdResolver): Body {
  if (kind === 'action') return definition
  const [list, field] = kind === 'sequence' ? (['actions', 'action'] as const) : (['sequences', 'sequence'] as const)
  const entries = (definition[list] as Body[]).map(({ [field]: name, ...rest }, n) => ({
    [`${field}_id`]: resolve(field, name as string, `/definition/${list}/${n}/${field}`) ?? NOT_CREATED_YET,
    ...rest,
  }))
  return { ...definition, [list]: entries }
}

type Tag = { key: string; value: string }
const compareTags = (a: Tag, b: Tag) => a.key.localeCompare(b.key) || a.value.localeCompare(b.value)

/** Normalizes a record for a comparison: sorts tags and names, removes secrets, and writes times in UTC. */
export function normalizeRecord(kind: FileKind, record: Body): Body {
  const { connection, tags, start_time, end_time, sensitive_variables } = record
  return {
    ...record,
    ...(tags === undefined ? {} : { tags: [...(tags as Tag[])].sort(compareTags) }),
    ...(sensitive_variables === undefined
      ? {}
      : { sensitive_variables: [...new Set(sensitive_variables as string[])].sort() }),
    ...(kind === 'freeze' ? { start_time: formatInstant(start_time), end_time: formatInstant(end_time) } : {}),
    ...(connection === undefined ? {} : { connection: removeSecrets(connection as Body) }),
  }
}

const formatInstant = (time: unknown) => new Date(time as string).toISOString()

/** Removes secrets, which the server does not return, so they cannot be compared. */
const removeSecrets = ({ private_key: _, password: __, ...connection }: Body): Body =>
  connection['type'] === 'ssh' ? { port: 22, ...connection } : connection

/** Removes the ids of variables and sensitive defaults. The server adds the former and masks the latter. */
export function normalizeDefinition(definition: Body): Body {
  const variables = ((definition['variables'] ?? []) as Body[]).map(({ id: _, ...variable }) =>
    variable['sensitive'] === true ? { ...variable, default: undefined } : variable,
  )
  return {
    ...definition,
    ...normalizeScripts(definition),
    variables: variables.map((one) => JSON.parse(JSON.stringify(one)) as Body),
  }
}

/** The server stores scripts as their interpreter can read them: without a byte order mark, and with LF for shells. */
function normalizeScripts({ script, interpreter, rollback, check }: Body): Body {
  if (typeof script !== 'string') return {}
  const main = prepareScript(script, interpreter as Interpreter | undefined)
  const prepared = (part: unknown) => {
    if (part === undefined) return {}
    const { script: text, interpreter: own } = part as { script: string; interpreter?: Interpreter }
    return { ...part, script: prepareScript(text, own ?? main.interpreter).script }
  }
  return {
    script: main.script,
    interpreter: main.interpreter,
    ...(rollback === undefined ? {} : { rollback: prepared(rollback) }),
    ...(check === undefined ? {} : { check: prepared(check) }),
  }
}
