import { useQuery } from '@tanstack/react-query'
import { client } from '../../api/client.ts'

const PAGE = 100
/** The API takes no more ids in one request. */
const MAX_TARGETS = 10_000
const FRESH_MS = 30_000

export const environmentTargetsKey = (environmentId: string | null) => ['listTargets', 'ids', environmentId]

/** The ids of the enabled targets of an environment. */
export function useEnvironmentTargets(environmentId: string | null) {
  return useQuery({
    queryKey: environmentTargetsKey(environmentId),
    queryFn: async () => {
      const ids: string[] = []
      const query = { environment_id: environmentId ?? '', limit: PAGE }
      for await (const { id, enabled } of client.each('listTargets', { query })) {
        if (enabled) ids.push(id)
        if (ids.length === MAX_TARGETS) break
      }
      return ids
    },
    enabled: environmentId !== null,
    staleTime: FRESH_MS,
  })
}
