import { type Item, NotFoundError, type SlipwayClient } from '@slipway/client'
import { RefusedError } from '../exit-code.ts'
import { take } from './lists.ts'
import { suggestOneOf } from './suggestions.ts'

/** Finds records by name, UUID or SqId. */

const LIST_OPERATIONS = {
  action: 'listActions',
  sequence: 'listSequences',
  solution: 'listSolutions',
  target: 'listTargets',
  environment: 'listEnvironments',
  tenant: 'listTenants',
  freeze: 'listFreezes',
  instance: 'listInstances',
  user: 'listUsers',
  'service-account': 'listUsers',
  role: 'listRoles',
  webhook: 'listWebhooks',
} as const
const READ_OPERATIONS = {
  action: 'getAction',
  sequence: 'getSequence',
  solution: 'getSolution',
  target: 'getTarget',
  environment: 'getEnvironment',
  tenant: 'getTenant',
  freeze: 'getFreeze',
  instance: 'getInstance',
  user: 'getUser',
  'service-account': 'getUser',
  role: 'getRole',
  webhook: 'getWebhook',
} as const
const DELETE_OPERATIONS = {
  action: 'deleteAction',
  sequence: 'deleteSequence',
  solution: 'deleteSolution',
  target: 'deleteTarget',
  environment: 'deleteEnvironment',
  tenant: 'deleteTenant',
  freeze: 'deleteFreeze',
  instance: 'deleteInstance',
  user: 'deleteUser',
  'service-account': 'deleteUser',
  role: 'deleteRole',
  webhook: 'deleteWebhook',
} as const

export type RecordKind = keyof typeof LIST_OPERATIONS
export interface RecordByKind {
  action: Item<'listActions'>
  sequence: Item<'listSequences'>
  solution: Item<'listSolutions'>
  target: Item<'listTargets'>
  environment: Item<'listEnvironments'>
  tenant: Item<'listTenants'>
  freeze: Item<'listFreezes'>
  instance: Item<'listInstances'>
  user: Item<'listUsers'>
  'service-account': Item<'listUsers'>
  role: Item<'listRoles'>
  webhook: Item<'listWebhooks'>
}

/** The name of a kind in a sentence. */
export const formatKind = (kind: RecordKind) => kind.replace('-', ' ')

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Shorter prefixes are more likely to be mistyped names. */
export const ID_PREFIX = /^(?=.{4,35}$)[0-9a-f]{1,8}(-[0-9a-f]{0,4}){0,3}(-[0-9a-f]{0,12})?$/i
const SQID = /^[A-Za-z0-9]{8,64}$/
/** A short id has 8 characters. A longer text is no beginning of one, so the list need not be read. */
const SQID_PREFIX = /^[A-Za-z0-9]{4,7}$/
const KINDS_WITH_SQID: ReadonlySet<RecordKind> = new Set([
  'action',
  'sequence',
  'solution',
  'target',
  'environment',
  'tenant',
])
const MAX_SIMILAR_NAMES = 5

/** Returns all records with exactly this name, or else with another spelling of it, and some names that contain it. */
async function findByName<K extends RecordKind>(client: SlipwayClient, kind: K, name: string) {
  // Loads every schema of the API, which slows down the start of commands that name no record.
  const { nameKey } = await import('@slipway/contracts')
  const exact: RecordByKind[K][] = []
  const spelled: RecordByKind[K][] = []
  const similar: string[] = []
  for await (const record of listRecords(client, kind, { search: name })) {
    const recordName = getName(record)
    const names = 'username' in record ? [recordName, record.username] : [recordName]
    if (names.includes(name)) exact.push(record)
    else if (names.some((one) => nameKey(one) === nameKey(name))) spelled.push(record)
    else if (similar.length < MAX_SIMILAR_NAMES) similar.push(recordName)
  }
  return { found: exact.length > 0 ? exact : spelled, similar }
}

/** Webhooks have no name. */
export function getName(record: RecordByKind[RecordKind]): string {
  if ('email' in record) return record.email ?? record.username
  return 'url' in record ? record.url : record.name
}

export async function* listRecords<K extends RecordKind>(
  client: SlipwayClient,
  kind: K,
  query: Record<string, string> = {},
): AsyncGenerator<RecordByKind[K], void, undefined> {
  const records = client.each(LIST_OPERATIONS[kind], { query } as never) as AsyncGenerator<RecordByKind[K]>
  for await (const record of records) if (isOfKind(kind, record)) yield record
}

/** The API lists service accounts among the users. */
const isOfKind = (kind: RecordKind, record: object) =>
  kind !== 'service-account' || ('kind' in record && record.kind === 'service')

export async function deleteRecord(
  client: SlipwayClient,
  kind: RecordKind,
  id: string,
  query: Record<string, string> = {},
): Promise<void> {
  await client.call(DELETE_OPERATIONS[kind], { params: { id }, query } as never)
}

async function readById<K extends RecordKind>(
  client: SlipwayClient,
  kind: K,
  id: string,
): Promise<RecordByKind[K] | undefined> {
  try {
    const input = { params: { id } } as never
    const record = (await client.call(READ_OPERATIONS[kind], input)) as RecordByKind[K]
    return isOfKind(kind, record) ? record : undefined
  } catch (error) {
    if (error instanceof NotFoundError) return undefined
    throw error
  }
}

const mayBePrefix = (kind: RecordKind, text: string) =>
  ID_PREFIX.test(text) || (KINDS_WITH_SQID.has(kind) && SQID_PREFIX.test(text))

const getSqid = (record: object) => ('sqid' in record && typeof record.sqid === 'string' ? record.sqid : undefined)

/** Returns the records whose id or short id begins like this. */
async function findByPrefix<K extends RecordKind>(client: SlipwayClient, kind: K, prefix: string) {
  const found: RecordByKind[K][] = []
  for await (const record of listRecords(client, kind))
    if (record.id.startsWith(prefix.toLowerCase()) || getSqid(record)?.startsWith(prefix)) found.push(record)
  return found
}

/** Returns every record that has this name or id, or whose id begins with it. An id wins over a name that looks like an id. */
async function findCandidates<K extends RecordKind>(client: SlipwayClient, kind: K, nameOrId: string) {
  if (UUID.test(nameOrId)) {
    const record = await readById(client, kind, nameOrId)
    if (record) return { found: [record], similar: [] }
  }
  const result = await findByName(client, kind, nameOrId)
  if (result.found.length > 0) return result
  const record = SQID.test(nameOrId) ? await readById(client, kind, nameOrId) : undefined
  if (record) return { found: [record], similar: [] }
  return mayBePrefix(kind, nameOrId) ? { ...result, found: await findByPrefix(client, kind, nameOrId) } : result
}

/** For example `solution, sequence or action`. */
const formatChoice = (words: readonly string[]) => words.join(', ').replace(/, ([^,]*)$/, ' or $1')

const MAX_NAMES_READ = 1_000

/** Says which record may be meant, after a name of no record. `similar` are names that contain it. */
async function formatHint(
  client: SlipwayClient,
  kinds: readonly RecordKind[],
  given: string,
  similar: readonly string[],
): Promise<string> {
  const lists = await Promise.all(
    kinds.map(async (kind) => (await take(listRecords(client, kind), MAX_NAMES_READ)).map(getName)),
  )
  const names = [...new Set(lists.flat())]
  const meant = await suggestOneOf(given, names)
  if (meant !== '') return meant
  if (similar.length > 0) return `; did you mean ${similar.join(' or ')}?`
  if (names.length === 0) return ', nor any other'
  if (names.length <= MAX_SIMILAR_NAMES) return `; there are: ${names.join(', ')}`
  return `; ${formatChoice(kinds.map((kind) => `\`slipway ${kind}s\``))} lists them`
}

/** Returns the record with this name or id. Throws RefusedError if there is none or more than one. */
export async function findRecord<K extends RecordKind>(
  client: SlipwayClient,
  kind: K,
  nameOrId: string,
): Promise<RecordByKind[K]> {
  const { found, similar } = await findCandidates(client, kind, nameOrId)
  const [record, another] = found
  if (record === undefined) {
    const hint = await formatHint(client, [kind], nameOrId, similar)
    throw new RefusedError(`there is no ${formatKind(kind)} "${nameOrId}"${hint}`)
  }
  if (another !== undefined) {
    throw new RefusedError(describeAmbiguity(`${formatKind(kind)}s`, nameOrId, found))
  }
  return record
}

const MAX_CANDIDATES = 10

/** Lists what a name or the beginning of an id may mean. */
export function describeAmbiguity(
  kinds: string,
  given: string,
  found: readonly { id: string; name?: string }[],
): string {
  const areNames = found.every(({ name }) => name === given)
  const what = areNames ? `have the name "${given}": use an id instead` : `have an id that begins with "${given}"`
  const showId = (one: { id: string }) => {
    const sqid = getSqid(one)
    return sqid?.startsWith(given) ? sqid : one.id
  }
  const lines = found
    .slice(0, MAX_CANDIDATES)
    .map((one) => `\n  ${showId(one)}${areNames || !one.name ? '' : ` ${one.name}`}`)
  const more = found.length > MAX_CANDIDATES ? `\n  and ${found.length - MAX_CANDIDATES} more` : ''
  return `several ${kinds} ${what}${lines.join('')}${more}`
}

export async function findId(client: SlipwayClient, kind: RecordKind, nameOrId: string): Promise<string> {
  return ((await findRecord(client, kind, nameOrId)) as { id: string }).id
}

export const SOURCES = ['solution', 'sequence', 'action'] as const
export type SourceKind = (typeof SOURCES)[number]

const SOURCE_FILTERS = {
  solution: (id: string) => ({ solution_id: id }),
  sequence: (id: string) => ({ sequence_id: id }),
  action: (id: string) => ({ action_id: id }),
}

/** Returns the filter by this source, as lists take it. */
export async function findSourceFilter(client: SlipwayClient, nameOrId: string, kind?: SourceKind) {
  const source = await findSource(client, nameOrId, kind)
  return SOURCE_FILTERS[source.kind](source.id)
}

/** Finds a source of any kind. The kinds have separate names, so one name can mean several sources. */
export async function findSource(
  client: SlipwayClient,
  nameOrId: string,
  kind?: SourceKind,
): Promise<{ kind: SourceKind; id: string }> {
  const kinds = kind === undefined ? SOURCES : [kind]
  const results = await Promise.all(kinds.map((one) => findCandidates(client, one, nameOrId)))
  const found = results.flatMap((result, n) => result.found.map(({ id }) => ({ kind: kinds[n] as SourceKind, id })))
  const [source, another] = found
  if (source === undefined) {
    const similar = results.flatMap((result) => result.similar).slice(0, MAX_SIMILAR_NAMES)
    const hint = await formatHint(client, kinds, nameOrId, similar)
    throw new RefusedError(`there is no ${formatChoice(kinds)} "${nameOrId}"${hint}`)
  }
  if (another !== undefined) {
    const list = found.map((one) => `${one.kind} ${one.id}`).join(', ')
    throw new RefusedError(
      `several sources have the name "${nameOrId}", or an id that begins with it (${list}): give --kind, or use an id instead`,
    )
  }
  return source
}
