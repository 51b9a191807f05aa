import type { FileKind } from './kinds.ts'
import type { Entry } from './load.ts'

/** What a file wants of a record, in the words of the API. */

/** Ids of the records that entries name; null: it is to be created with this run. */
export type Resolve = (kind: FileKind, name: string, pointer: string) => string | null

/** Stands for an id in a plan, where the record does not exist yet. */
const NOT_YET = '(created with this)'

const SOURCES: ReadonlySet<FileKind> = new Set(['action', 'sequence', 'solution'])
export const isSource = (kind: FileKind) => SOURCES.has(kind)

type Body = Record<string, unknown>

/**
 * The body that creates the record. A field that the file leaves out has its default. Some fields have none here and stay
 * what they are: a slug, sensitive_variables, whether a target is enabled.
 */
export function wantedBody({ kind, value, tenant }: Entry, resolve: Resolve): Body {
  const { kind: _, tenant: __, environment, solution, definition, ...rest } = value
  const refer = (field: string, of: FileKind, name: unknown) => ({
    [`${field}_id`]: name === undefined ? null : (resolve(of, name as string, `/${field}`) ?? NOT_YET),
  })
  const owner = kind === 'tenant' ? {} : refer('tenant', 'tenant', tenant ?? undefined)
  const common = { description: null, ...rest, ...owner }
  switch (kind) {
    case 'tenant':
    case 'environment':
      return { variables: {}, ...common }
    case 'target':
      return { tags: [], variables: {}, ...common, ...refer('environment', 'environment', environment) }
    case 'freeze':
      return {
        recurrence: null,
        ...common,
        ...refer('environment', 'environment', environment),
        ...refer('solution', 'solution', solution),
      }
    default:
      return { ...common, definition: wantedDefinition(kind, definition as Body, resolve) }
  }
}

function wantedDefinition(kind: FileKind, definition: Body, resolve: Resolve): Body {
  if (kind === 'action') return definition
  const [list, field] = kind === 'sequence' ? (['actions', 'action'] as const) : (['sequences', 'sequence'] as const)
  const entries = (definition[list] as Body[]).map(({ [field]: name, ...rest }, n) => ({
    [`${field}_id`]: resolve(field, name as string, `/definition/${list}/${n}/${field}`) ?? NOT_YET,
    ...rest,
  }))
  return { ...definition, [list]: entries }
}

type Tag = { key: string; value: string }
const byKey = (a: Tag, b: Tag) => a.key.localeCompare(b.key) || a.value.localeCompare(b.value)

/** Both sides of a comparison in one form: order of tags and names, ids of variables and ways to write a time do not count. */
export function comparable(kind: FileKind, record: Body): Body {
  const { connection, tags, start_time, end_time, sensitive_variables } = record
  return {
    ...record,
    ...(tags === undefined ? {} : { tags: [...(tags as Tag[])].sort(byKey) }),
    ...(sensitive_variables === undefined
      ? {}
      : { sensitive_variables: [...new Set(sensitive_variables as string[])].sort() }),
    ...(kind === 'freeze' ? { start_time: instant(start_time), end_time: instant(end_time) } : {}),
    ...(connection === undefined ? {} : { connection: withoutSecrets(connection as Body) }),
  }
}

const instant = (time: unknown) => new Date(time as string).toISOString()

/** Secrets are write only, so that nobody can say whether they differ. */
const withoutSecrets = ({ private_key: _, password: __, ...connection }: Body): Body =>
  connection['type'] === 'ssh' ? { port: 22, ...connection } : connection

/** The server gives ids to variables and hides sensitive defaults; neither makes a definition another one. */
export function comparableDefinition(definition: Body): Body {
  const variables = ((definition['variables'] ?? []) as Body[]).map(({ id: _, ...variable }) =>
    variable['sensitive'] === true ? { ...variable, default: undefined } : variable,
  )
  return { ...definition, variables: variables.map((one) => JSON.parse(JSON.stringify(one)) as Body) }
}
