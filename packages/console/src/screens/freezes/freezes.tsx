import { useInterval } from '@mantine/hooks'
import { useState } from 'react'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { RecordsPage } from '../administration/records-page.tsx'
import { searchQuery } from '../administration/search-query.ts'
import { useAddress } from '../administration/use-address.ts'
import { FreezeCalendar } from './freeze-calendar.tsx'
import { FreezeForm } from './freeze-form.tsx'
import { FreezeTable } from './freeze-table.tsx'

/** No event tells that a window begins or ends, so the list is read again. */
const READ_EVERY_MS = 30_000

export function Freezes() {
  const { search, page } = useAddress()
  const [now, setNow] = useState(Date.now)
  useInterval(() => setNow(Date.now()), READ_EVERY_MS, { autoInvoke: true })
  useLive('listFreezes')
  const text = search['search'] ?? ''
  const query = { ...searchQuery(text), page, limit: 50 }
  const freezes = useRead('listFreezes', { query }, { keep: true, everyMs: READ_EVERY_MS })
  return (
    <RecordsPage
      title="Freezes"
      command="slipway freeze list"
      record="freeze"
      purpose="A freeze forbids deployments for a time, such as the days before a holiday. Create one to hold deployments back."
      permission="freezes:create"
      read={freezes}
      form={(onClose) => <FreezeForm onClose={onClose} />}
    >
      {(data) => (
        <>
          <FreezeCalendar freezes={data} now={now} />
          <FreezeTable freezes={data} now={now} />
        </>
      )}
    </RecordsPage>
  )
}
