import { type Item, NotFoundError, type SlipwayClient } from '@slipway/client'
import { RefusedError } from '../exit-code.ts'

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
} as const

type RecordKind = keyof typeof LIST_OPERATIONS
interface RecordByKind {
  action: Item<'listActions'>
  sequence: Item<'listSequences'>
  solution: Item<'listSolutions'>
  target: Item<'listTargets'>
  environment: Item<'listEnvironments'>
  tenant: Item<'listTenants'>
  freeze: Item<'listFreezes'>
  instance: Item<'listInstances'>
  user: Item<'listUsers'>
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const SQID = /^[A-Za-z0-9]{8,64}$/
const MAX_SIMILAR_NAMES = 5

/** Returns all records with exactly this name, and some names that contain it. */
async function findByName<K extends RecordKind>(client: SlipwayClient, kind: K, name: string) {
  const found: RecordByKind[K][] = []
  const similar: string[] = []
  const input = { query: { search: name } } as never
  for await (const record of client.each(LIST_OPERATIONS[kind], input) as AsyncGenerator<RecordByKind[K]>) {
    const recordName = getName(record)
    if (recordName === name) found.push(record)
    else if (similar.length < MAX_SIMILAR_NAMES) similar.push(recordName)
  }
  return { found, similar }
}

const getName = (record: RecordByKind[RecordKind]) => ('email' in record ? record.email : record.name)

async function readById<K extends RecordKind>(
  client: SlipwayClient,
  kind: K,
  id: string,
): Promise<RecordByKind[K] | undefined> {
  try {
    const input = { params: { id } } as never
    return (await client.call(READ_OPERATIONS[kind], input)) as RecordByKind[K]
  } catch (error) {
    if (error instanceof NotFoundError) return undefined
    throw error
  }
}

/** Returns every record that has this name or id. */
async function findCandidates<K extends RecordKind>(client: SlipwayClient, kind: K, nameOrId: string) {
  if (UUID.test(nameOrId)) {
    const record = await readById(client, kind, nameOrId)
    return { found: record ? [record] : [], similar: [] }
  }
  const result = await findByName(client, kind, nameOrId)
  if (result.found.length > 0 || !SQID.test(nameOrId)) return result
  const record = await readById(client, kind, nameOrId)
  return record ? { found: [record], similar: [] } : result
}

const formatHint = (similar: readonly string[]) =>
  similar.length > 0 ? `; there is ${similar.map((name) => `"${name}"`).join(', ')}` : ''

/** Returns the record with this name or id. Throws RefusedError if there is none or more than one. */
export async function findRecord<K extends RecordKind>(
  client: SlipwayClient,
  kind: K,
  nameOrId: string,
): Promise<RecordByKind[K]> {
  const { found, similar } = await findCandidates(client, kind, nameOrId)
  const [record, another] = found
  if (record === undefined) {
    throw new RefusedError(`there is no ${kind} "${nameOrId}"${formatHint(similar)}`)
  }
  if (another !== undefined) {
    const ids = found.map((one) => (one as { id: string }).id).join(', ')
    throw new RefusedError(`several ${kind}s have the name "${nameOrId}": use an id instead (${ids})`)
  }
  return record
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
    throw new RefusedError(`there is no ${kinds.join(', ')} "${nameOrId}"${formatHint(similar)}`)
  }
  if (another !== undefined) {
    const list = found.map((one) => `${one.kind} ${one.id}`).join(', ')
    throw new RefusedError(`several sources have the name "${nameOrId}" (${list}): give --kind, or use an id instead`)
  }
  return source
}
