import { Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { searchQuery } from '../administration/search-query.ts'
import { MAX_READ, type TargetFilters, useMatchingTargets } from './matching-targets.ts'
import { TargetTable } from './target-table.tsx'

const PAGE_SIZE = 50

interface Props {
  page: string
  onPage: (page: number) => void
}

interface Answer {
  data: Item<'listTargets'>[]
  meta: { page: number; limit: number; total: number }
}

/** The targets as the API pages them. */
export function TargetList({ search, page, onPage }: Props & { search: string }) {
  useLive('listTargets')
  const targets = useRead('listTargets', { query: { ...searchQuery(search), page, limit: PAGE_SIZE } }, { keep: true })
  return (
    <Loaded read={targets}>{(answer) => <Found answer={answer} isFiltered={search !== ''} onPage={onPage} />}</Loaded>
  )
}

/** The targets that pass filters which the API does not have. */
export function MatchingTargetList({ filters, page, onPage }: Props & { filters: TargetFilters }) {
  const targets = useMatchingTargets(filters)
  return (
    <Loaded read={targets}>
      {({ matching, isComplete }) => {
        const at = Math.max(1, Number(page) || 1)
        const data = matching.slice((at - 1) * PAGE_SIZE, at * PAGE_SIZE)
        const answer = { data, meta: { page: at, limit: PAGE_SIZE, total: matching.length } }
        return (
          <>
            {!isComplete && (
              <Text size="sm">
                Only the newest {MAX_READ.toLocaleString()} targets are filtered. Search for a name to reach the others.
              </Text>
            )}
            <Found answer={answer} isFiltered onPage={onPage} />
          </>
        )
      }}
    </Loaded>
  )
}

function Found({
  answer: { data, meta },
  isFiltered,
  onPage,
}: { answer: Answer; isFiltered: boolean } & Pick<Props, 'onPage'>) {
  if (data.length === 0) {
    return (
      <Empty title={isFiltered ? 'No target is like this' : 'There is no target yet'}>
        {isFiltered
          ? 'Take a filter away to see more.'
          : 'A target is a machine on which deployments run commands. Create the first one; a simulated target needs no machine.'}
      </Empty>
    )
  }
  return (
    <>
      <TargetTable targets={data} />
      <Pager meta={meta} onPage={onPage} />
    </>
  )
}
