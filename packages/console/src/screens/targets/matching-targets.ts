import type { Item } from '@slipway/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { client } from '../../api/client.ts'
import { searchQuery } from '../administration/search-query.ts'
import { tagText } from './tags.tsx'

type Target = Item<'listTargets'>

export interface TargetFilters {
  search: string
  /** As `key:value`. */
  tag: string | undefined
  environment: string | undefined
  status: string | undefined
}

export const MAX_READ = 2_000
/** A read takes up to 20 calls, so it follows the clock and not each change. */
const READ_EVERY_MS = 20_000

// The API filters targets by name only, so the browser reads them and filters by the rest, as `slipway targets list` does.
export function useMatchingTargets({ search, tag, environment, status }: TargetFilters) {
  const matches = (target: Target) =>
    (tag === undefined || target.tags.some((one) => tagText(one) === tag)) &&
    (environment === undefined || target.environment_id === environment) &&
    (status === undefined || (status === 'disabled' ? !target.enabled : target.status === status))
  return useQuery({
    queryKey: ['listTargets', 'up to the maximum', search],
    queryFn: ({ signal }) => readTargets(search, signal),
    select: (targets) => ({ matching: targets.filter(matches), isComplete: targets.length < MAX_READ }),
    refetchInterval: READ_EVERY_MS,
    placeholderData: keepPreviousData,
  })
}

async function readTargets(search: string, signal: AbortSignal): Promise<Target[]> {
  const targets: Target[] = []
  for await (const target of client.each('listTargets', { query: searchQuery(search), signal })) {
    targets.push(target)
    if (targets.length === MAX_READ) break
  }
  return targets
}
