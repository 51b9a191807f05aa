import { Badge, Code, Text } from '@mantine/core'
import { useWrite } from '../../api/queries.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Named } from '../../components/named.tsx'
import { RecordName } from '../../components/record-select.tsx'
import { RecordButtons } from '../../components/row-buttons.tsx'
import { formatMoment, formatWindow } from './format.ts'
import { type Freeze, nextWindow, presentWindow } from './windows.ts'

interface Props {
  freezes: Freeze[]
  now: number
  onChange: (freeze: Freeze) => void
}

export function FreezeTable({ freezes, now, onChange }: Props) {
  return (
    <DataTable
      rows={freezes}
      minWidth={960}
      columns={[
        {
          head: 'Name',
          cell: ({ name, description, created_by }) => (
            <Named name={name}>
              {description && <div>{description}</div>}
              {created_by && `by ${created_by}`}
            </Named>
          ),
        },
        { head: 'In force', cell: (freeze) => <InForce freeze={freeze} now={now} /> },
        {
          head: 'Next window',
          cell: (freeze) => {
            const next = nextWindow(freeze, now)
            if (next !== undefined) return formatWindow(next)
            return freeze.recurrence === null ? 'none' : 'none within a year'
          },
        },
        { head: 'Applies to', cell: (freeze) => <Scope freeze={freeze} /> },
        { head: 'Recurrence', maxWidth: 260, cell: (freeze) => <Recurrence freeze={freeze} /> },
      ]}
      actions={(freeze) => <Actions freeze={freeze} onChange={() => onChange(freeze)} />}
    />
  )
}

function InForce({ freeze, now }: { freeze: Freeze; now: number }) {
  if (!freeze.active) return 'no'
  const present = presentWindow(freeze, now)
  return (
    <>
      <Badge color="red.9" variant="filled" autoContrast={false} c="white" tt="none" radius="sm">
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

function Actions({ freeze: { id, name }, onChange }: { freeze: Freeze; onChange: () => void }) {
  const remove = useWrite('deleteFreeze', 'listFreezes')
  return (
    <RecordButtons
      resource="freezes"
      name={name}
      question={`The freeze ${name} is deleted. Requests that it holds back start.`}
      onChange={onChange}
      onDelete={() => remove.mutateAsync({ params: { id } })}
    />
  )
}
