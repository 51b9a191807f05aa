import { client } from './client.ts'

/** What has a name that other records show: how it is read, and the permission for that. */
export const NAMED = {
  action: { list: 'listActions', get: 'getAction', permission: 'actions:read' },
  environment: { list: 'listEnvironments', get: 'getEnvironment', permission: 'environments:read' },
  sequence: { list: 'listSequences', get: 'getSequence', permission: 'sequences:read' },
  solution: { list: 'listSolutions', get: 'getSolution', permission: 'solutions:read' },
  target: { list: 'listTargets', get: 'getTarget', permission: 'targets:read' },
  tenant: { list: 'listTenants', get: 'getTenant', permission: 'tenants:read' },
  user: { list: 'listUsers', get: 'getUser', permission: 'users:read' },
} as const
export type NamedKind = keyof typeof NAMED

/** The most that one call names. */
const MOST = 100

export const nameOf = (record: { name: string } | { username: string }) =>
  'name' in record ? record.name : record.username

async function readNames(kind: NamedKind, ids: readonly string[]): Promise<Map<string, string>> {
  const { data } = await client.call(NAMED[kind].list, { query: { ids: ids.join(','), limit: MOST } })
  return new Map(data.map((record) => [record.id, nameOf(record)]))
}

const batches = new Map<NamedKind, { ids: Set<string>; names: Promise<Map<string, string>> }>()

/** The name of a record; null for one that is gone. What is asked for at the same moment is read in one call. */
export async function readName(kind: NamedKind, id: string): Promise<string | null> {
  let batch = batches.get(kind)
  if (batch === undefined || batch.ids.size >= MOST) {
    const ids = new Set<string>()
    const names = nextTurn().then(() => {
      if (batches.get(kind)?.ids === ids) batches.delete(kind)
      return readNames(kind, [...ids])
    })
    batch = { ids, names }
    batches.set(kind, batch)
  }
  batch.ids.add(id)
  return (await batch.names).get(id) ?? null
}

const nextTurn = () => new Promise<void>((resolve) => setTimeout(resolve))

const FRESH_MS = 60_000

/** What all queries of names begin with. */
export const NAMES_KEY = ['name'] as const

/** Reads the name of one record, for `useQuery` and `useQueries`. */
export const nameQuery = (kind: NamedKind, id: string, enabled: boolean) => ({
  queryKey: [...NAMES_KEY, kind, id],
  queryFn: () => readName(kind, id),
  staleTime: FRESH_MS,
  enabled,
})
