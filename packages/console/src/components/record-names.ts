import { useQueries } from '@tanstack/react-query'
import { client } from '../api/client.ts'
import { useSession } from '../session/session.tsx'

/** Names of more records are not read. They appear with their ids. */
const MAX_NAMED = 50
const FRESH_MS = 60_000

const GET = { environment: 'getEnvironment', solution: 'getSolution' } as const
export type LimitKind = keyof typeof GET

/** The names of records by id. The id stands for one that the user may not read, or that is not read yet. */
export function useRecordNames(kind: LimitKind, ids: readonly string[]): (id: string) => string {
  const { can } = useSession()
  const records = useQueries({
    queries: [...new Set(ids)].slice(0, MAX_NAMED).map((id) => ({
      queryKey: [GET[kind], { params: { id } }],
      queryFn: () => client.call(GET[kind], { params: { id } }),
      staleTime: FRESH_MS,
      enabled: can(`${kind}s:read`),
    })),
  })
  const names = new Map(records.flatMap(({ data }) => (data ? [[data.id, data.name] as const] : [])))
  return (id) => names.get(id) ?? id
}
