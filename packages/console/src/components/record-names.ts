import { useQueries } from '@tanstack/react-query'
import { nameQuery } from '../api/names.ts'
import { useSession } from '../session/session.tsx'

export type LimitKind = 'environment' | 'solution'

/** The names of records by id. The id stands for one that the user may not read, or that is not read yet. */
export function useRecordNames(kind: LimitKind, ids: readonly string[]): (id: string) => string {
  const { can } = useSession()
  const unique = [...new Set(ids)]
  const enabled = can(`${kind}s:read`)
  const records = useQueries({ queries: unique.map((id) => nameQuery(kind, id, enabled)) })
  const names = new Map(unique.map((id, index) => [id, records[index]?.data]))
  return (id) => names.get(id) ?? id
}
