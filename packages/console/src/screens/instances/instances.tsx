import { Stack } from '@mantine/core'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { SearchInput } from '../administration/search-input.tsx'
import { searchQuery } from '../administration/search-query.ts'
import { useAddress } from '../administration/use-address.ts'
import { InstanceTable } from './instance-table.tsx'
import { JoinTokens } from './join-tokens.tsx'

export function Instances() {
  const { search, change, page, toPage } = useAddress()
  const text = search['search'] ?? ''
  useLive('listInstances')
  const instances = useRead(
    'listInstances',
    { query: { ...searchQuery(text), page, limit: 50 } },
    { keep: true, everyMs: 10_000 },
  )
  return (
    <Page title="Instances" command="slipway instances list">
      <SearchInput
        label="Search"
        placeholder="Part of the name"
        maw={320}
        value={text}
        onChange={(search) => change({ search })}
      />
      <Loaded read={instances}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Empty title={text ? 'No instance has such a name' : 'No instance has joined yet'}>
              {text
                ? 'Search for another part of the name.'
                : 'An orchestration instance runs the commands of deployments. Create a join token below, then start an instance with it.'}
            </Empty>
          ) : (
            <Stack gap="md">
              <InstanceTable instances={data} />
              <Pager meta={meta} onPage={toPage} />
            </Stack>
          )
        }
      </Loaded>
      <JoinTokens />
    </Page>
  )
}
