import { Badge, Code, Text } from '@mantine/core'
import { useInterval } from '@mantine/hooks'
import { useState } from 'react'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { ListScreen } from '../../components/list-screen.tsx'
import { Named } from '../../components/named.tsx'
import { RecordName } from '../../components/record-select.tsx'
import { RecordButtons } from '../../components/row-buttons.tsx'
import { sortQuery } from '../../components/sorting.ts'
import { useAddress } from '../../components/use-address.ts'
import { useRight } from '../../session/use-right.ts'
import { FreezeCalendar } from './freeze-calendar.tsx'
import { FreezeForm, frozenBy } from './freeze-form.tsx'
import { type Freeze, formatMoment, formatWindow, nextWindow, presentWindow } from './windows.ts'

const TICK_MS = 10_000

const SORTED = ['name', 'start_time'] as const

export function Freezes() {
  const { search, listQuery } = useAddress()
  const createRight = useRight('freezes:create')
  const [now, setNow] = useState(Date.now)
  useInterval(() => setNow(Date.now()), TICK_MS, { autoInvoke: true })
  useLive('listFreezes')
  const freezes = useRead(
    'listFreezes',
    { query: { ...listQuery, ...sortQuery(SORTED, search['sort']) } },
    { keep: true },
  )
  return (
    <ListScreen
      title="Freezes"
      command="slipway freezes list"
      record="freeze"
      purpose="A freeze forbids deployments for a time, such as the days before a holiday. Create one to hold deployments back."
      createRight={createRight}
      read={freezes}
      form={(freeze, onClose) => <FreezeForm freeze={freeze} onClose={onClose} />}
      above={(data) => <FreezeCalendar freezes={data} now={now} />}
      columns={[
        {
          head: 'Name',
          sort: 'name',
          cell: ({ name, description, created_by }) => (
            <Named name={name}>
              {description && <div>{description}</div>}
              {created_by && `by ${created_by}`}
            </Named>
          ),
        },
        { head: 'In force', width: 150, wraps: true, cell: (freeze) => <InForce freeze={freeze} now={now} /> },
        {
          head: 'Next window',
          width: 240,
          wraps: true,
          cell: (freeze) => {
            const next = nextWindow(freeze, now)
            if (next !== undefined) return formatWindow(next)
            return freeze.recurrence === null ? 'none' : 'none within a year'
          },
        },
        { head: 'Applies to', wraps: true, cell: (freeze) => <Scope freeze={freeze} /> },
        { head: 'Recurrence', wraps: true, width: 200, cell: (freeze) => <Recurrence freeze={freeze} /> },
      ]}
      actions={(freeze, open) => <FreezeButtons freeze={freeze} onChange={open} />}
    />
  )
}

function FreezeButtons({ freeze, onChange }: { freeze: Freeze; onChange: () => void }) {
  const { id, name } = freeze
  return (
    <RecordButtons
      id={id}
      name={name}
      mayChange={useRight('freezes:update', frozenBy(freeze))}
      onChange={onChange}
      mayDelete={useRight('freezes:delete', frozenBy(freeze))}
      deletion={['deleteFreeze', 'listFreezes']}
      question={`The freeze ${name} is deleted. Requests that it holds back start.`}
    />
  )
}

function InForce({ freeze, now }: { freeze: Freeze; now: number }) {
  if (!freeze.active) return 'no'
  const present = presentWindow(freeze, now)
  return (
    <>
      <Badge color="#a8460b" variant="filled" autoContrast={false} c="white" tt="none" radius="sm">
        in force
      </Badge>
      {present && <Text size="xs">until {formatMoment(present.end)}</Text>}
    </>
  )
}

function Scope({ freeze: { tenant_id, environment_id, solution_id } }: { freeze: Freeze }) {
  if (tenant_id === null && environment_id === null && solution_id === null) return 'every deployment'
  return (
    <>
      {tenant_id && (
        <div>
          Tenant <RecordName kind="tenant" id={tenant_id} />
        </div>
      )}
      {environment_id && (
        <div>
          Environment <RecordName kind="environment" id={environment_id} />
        </div>
      )}
      {solution_id && (
        <div>
          Solution <RecordName kind="solution" id={solution_id} />
        </div>
      )}
    </>
  )
}

function Recurrence({ freeze: { recurrence, time_zone } }: { freeze: Freeze }) {
  if (recurrence === null) return 'once'
  return (
    <>
      <Code>{recurrence}</Code>
      {time_zone && <Text size="xs">{time_zone}</Text>}
    </>
  )
}
