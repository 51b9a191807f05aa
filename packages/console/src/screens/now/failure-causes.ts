import type { Answer, Item } from '@slipway/client'
import { useQueries } from '@tanstack/react-query'
import { client } from '../../api/client.ts'
import { useRead } from '../../api/queries.ts'

type Deployment = Item<'listDeployments'>
type Result = Answer<'listCommandResults'>[number]

export interface FailureGroup {
  key: string
  summary: string
  /** The newest first. */
  deployments: Deployment[]
}

const DAY_MS = 86_400_000
/** Each needs a call for its results. Results of an ended deployment never change, so each is read once. */
const MAX_EXPLAINED = 30
/** The results of a larger deployment are megabytes. */
const MAX_STEPS = 1_000

/** The deployments that failed within a day, grouped by the fingerprint of the failure. */
export function useFailureCauses() {
  const failed = useRead('listDeployments', { query: { state: 'failed', limit: 100 } })
  const rolledBack = useRead('listDeployments', { query: { state: 'rolled_back', limit: 100 } })
  const since = new Date(failed.dataUpdatedAt - DAY_MS).toISOString()
  const recent = [...(failed.data?.data ?? []), ...(rolledBack.data?.data ?? [])]
    .filter((deployment) => endOf(deployment) > since)
    .sort((a, b) => endOf(b).localeCompare(endOf(a)))
  const explained = recent.filter(({ total_steps }) => total_steps <= MAX_STEPS).slice(0, MAX_EXPLAINED)
  const causes = useQueries({
    queries: explained.map(({ id }) => ({
      queryKey: ['causeOfFailure', id],
      queryFn: async () => causeOf(await client.call('listCommandResults', { params: { id } })),
      staleTime: Number.POSITIVE_INFINITY,
    })),
  })
  const known = new Map(explained.map(({ id }, index) => [id, causes[index]?.data]))
  const unread = new Set(explained.filter((_, index) => causes[index]?.isPending).map(({ id }) => id))
  const groups = Map.groupBy(
    recent.filter(({ id }) => !unread.has(id)),
    ({ id }) => known.get(id)?.key ?? '',
  )
  const data: FailureGroup[] = [...groups].map(([key, deployments]) => ({
    key,
    summary: known.get(deployments[0]?.id ?? '')?.summary ?? 'No failed command explains it',
    deployments,
  }))
  return {
    read: { data: failed.data && rolledBack.data && data, error: failed.error ?? rolledBack.error },
    total: recent.length,
  }
}

export const endOf = ({ completed_at, created_at }: Deployment) => completed_at ?? created_at

/** Of the first command that failed: later failures often follow from it. */
function causeOf(results: readonly Result[]): { key: string; summary: string } | null {
  const failure = results.find(({ status }) => status === 'failed')
  if (failure === undefined) return null
  const { analysis, action_name = 'a command', error_message } = failure
  const summary = analysis?.summary ?? error_message ?? `${action_name} failed`
  return { key: analysis?.fingerprint ?? summary, summary }
}
