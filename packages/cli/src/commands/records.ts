import { type Item, NotFoundError, type SlipwayClient } from '@slipway/client'
import { Refused } from '../exit-code.ts'

/** Finding records by what people call them: a name, a UUID or a SqId. */

const LISTS = {
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
const READS = {
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

export type Kind = keyof typeof LISTS
interface Found {
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
const OTHERS_SHOWN = 5

/** All records with exactly this name, and some whose name contains it. */
async function named<K extends Kind>(client: SlipwayClient, kind: K, name: string) {
  const found: Found[K][] = []
  const similar: string[] = []
  const input = { query: { search: name } } as never
  for await (const record of client.each(LISTS[kind], input) as AsyncGenerator<Found[K]>) {
    const its = nameOf(record)
    if (its === name) found.push(record)
    else if (similar.length < OTHERS_SHOWN) similar.push(its)
  }
  return { found, similar }
}

const nameOf = (record: Found[Kind]) => ('email' in record ? record.email : record.name)

async function byId<K extends Kind>(client: SlipwayClient, kind: K, id: string): Promise<Found[K] | undefined> {
  try {
    const input = { params: { id } } as never
    return (await client.call(READS[kind], input)) as Found[K]
  } catch (error) {
    if (error instanceof NotFoundError) return undefined
    throw error
  }
}

/** Every record that is meant by it. */
async function candidates<K extends Kind>(client: SlipwayClient, kind: K, meant: string) {
  if (UUID.test(meant)) {
    const record = await byId(client, kind, meant)
    return { found: record ? [record] : [], similar: [] }
  }
  const result = await named(client, kind, meant)
  if (result.found.length > 0 || !SQID.test(meant)) return result
  const record = await byId(client, kind, meant)
  return record ? { found: [record], similar: [] } : result
}

const hintOf = (similar: readonly string[]) =>
  similar.length > 0 ? `; there is ${similar.map((name) => `"${name}"`).join(', ')}` : ''

/** The one record that is meant. Throws Refused where there is none, or more than one. */
export async function findRecord<K extends Kind>(client: SlipwayClient, kind: K, meant: string): Promise<Found[K]> {
  const { found, similar } = await candidates(client, kind, meant)
  const [record, another] = found
  if (record === undefined) {
    throw new Refused(`there is no ${kind} "${meant}"${hintOf(similar)}`)
  }
  if (another !== undefined) {
    const ids = found.map((one) => (one as { id: string }).id).join(', ')
    throw new Refused(`several ${kind}s are called "${meant}": name one by its id (${ids})`)
  }
  return record
}

export async function idOf(client: SlipwayClient, kind: Kind, meant: string): Promise<string> {
  return ((await findRecord(client, kind, meant)) as { id: string }).id
}

const SOURCES = ['solution', 'sequence', 'action'] as const
export type SourceKind = (typeof SOURCES)[number]

/** The source that is meant, of whatever kind: solutions, sequences and actions have names of their own. */
export async function findSource(
  client: SlipwayClient,
  meant: string,
  kind?: SourceKind,
): Promise<{ kind: SourceKind; id: string }> {
  const kinds = kind === undefined ? SOURCES : [kind]
  const results = await Promise.all(kinds.map((one) => candidates(client, one, meant)))
  const found = results.flatMap((result, n) => result.found.map(({ id }) => ({ kind: kinds[n] as SourceKind, id })))
  const [source, another] = found
  if (source === undefined) {
    const similar = results.flatMap((result) => result.similar).slice(0, OTHERS_SHOWN)
    throw new Refused(`there is no ${kinds.join(', ')} "${meant}"${hintOf(similar)}`)
  }
  if (another !== undefined) {
    const list = found.map((one) => `${one.kind} ${one.id}`).join(', ')
    throw new Refused(`several sources are called "${meant}" (${list}): say --kind, or name one by its id`)
  }
  return source
}
