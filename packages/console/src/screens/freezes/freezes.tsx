import { useInterval } from '@mantine/hooks'
import { useState } from 'react'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { RecordsPage } from '../../components/records-page.tsx'
import { useAddress } from '../../components/use-address.ts'
import { FreezeCalendar } from './freeze-calendar.tsx'
import { FreezeForm } from './freeze-form.tsx'
import { FreezeTable } from './freeze-table.tsx'

const TICK_MS = 10_000

export function Freezes() {
  const { listQuery } = useAddress()
  const [now, setNow] = useState(Date.now)
  useInterval(() => setNow(Date.now()), TICK_MS, { autoInvoke: true })
  useLive('listFreezes')
  const freezes = useRead('listFreezes', { query: listQuery }, { keep: true })
  return (
    <RecordsPage
      title="Freezes"
      command="slipway freeze list"
      record="freeze"
      purpose="A freeze forbids deployments for a time, such as the days before a holiday. Create one to hold deployments back."
      permission="freezes:create"
      read={freezes}
      form={(freeze, onClose) => <FreezeForm freeze={freeze} onClose={onClose} />}
    >
      {(data, change) => (
        <>
          <FreezeCalendar freezes={data} now={now} />
          <FreezeTable freezes={data} now={now} onChange={change} />
        </>
      )}
    </RecordsPage>
  )
}
