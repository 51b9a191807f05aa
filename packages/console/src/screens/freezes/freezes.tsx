import { Button } from '@mantine/core'
import { useInterval } from '@mantine/hooks'
import { useState } from 'react'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { useSession } from '../../session/session.tsx'
import { SearchInput } from '../administration/search-input.tsx'
import { searchQuery } from '../administration/search-query.ts'
import { useAddress } from '../administration/use-address.ts'
import { FreezeCalendar } from './freeze-calendar.tsx'
import { FreezeForm } from './freeze-form.tsx'
import { FreezeTable } from './freeze-table.tsx'

/** No event tells that a window begins or ends, so the list is read again. */
const READ_EVERY_MS = 30_000

export function Freezes() {
  const { search, change, page, toPage } = useAddress()
  const { can } = useSession()
  const [isCreating, setCreating] = useState(false)
  const [now, setNow] = useState(Date.now)
  useInterval(() => setNow(Date.now()), READ_EVERY_MS, { autoInvoke: true })
  useLive('listFreezes')
  const text = search['search'] ?? ''
  const query = { ...searchQuery(text), page, limit: 50 }
  const freezes = useRead('listFreezes', { query }, { keep: true, everyMs: READ_EVERY_MS })
  return (
    <Page
      title="Freezes"
      command="slipway freeze list"
      actions={
        can('freezes:create') && (
          <Button size="xs" onClick={() => setCreating(true)}>
            New freeze
          </Button>
        )
      }
    >
      <SearchInput
        label="Search"
        placeholder="Part of the name"
        maw={320}
        value={text}
        onChange={(search) => change({ search })}
      />
      <Loaded read={freezes}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Empty title={text ? 'No freeze has such a name' : 'There is no freeze'}>
              {text
                ? 'Search for another part of the name.'
                : 'A freeze forbids deployments for a time, such as the days before a holiday. Create one to hold deployments back.'}
            </Empty>
          ) : (
            <>
              <FreezeCalendar freezes={data} now={now} />
              <FreezeTable freezes={data} now={now} />
              <Pager meta={meta} onPage={toPage} />
            </>
          )
        }
      </Loaded>
      {isCreating && <FreezeForm onClose={() => setCreating(false)} />}
    </Page>
  )
}
