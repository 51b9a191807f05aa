import { Anchor, Code, Group, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import type { Column, Details } from '../../components/data-table.tsx'
import { ShortId } from '../../components/short-id.tsx'
import { exactTime } from '../../components/time-ago.tsx'
import type { Search } from '../../components/use-address.ts'
import { AuditDetails } from './audit-details.tsx'

type AuditRecord = Item<'listAuditLogs'>

/** A click on actor, API key, action or resource filters by it. */
export const auditColumns = (onFilter: (changed: Search) => void): Column<AuditRecord>[] => [
  { head: 'When', width: 240, cell: ({ at }) => <span style={ONE_LINE}>{exactTime(at)}</span> },
  { head: 'Actor', cell: (record) => <Actor record={record} onFilter={onFilter} /> },
  { head: 'Address', width: 110, cell: ({ actor_ip }) => actor_ip ?? '–' },
  { head: 'Action', width: 175, cell: ({ action }) => <Filter onClick={() => onFilter({ action })}>{action}</Filter> },
  { head: 'Resource', width: 215, cell: (record) => <Resource record={record} onFilter={onFilter} /> },
  { head: 'Outcome', width: 150, wraps: true, cell: ({ details }) => <Outcome details={details} /> },
]

export const DETAILS: Details<AuditRecord> = {
  label: ({ action }) => `Details of ${action}`,
  content: (record) => <AuditDetails record={record} />,
}

const ONE_LINE = { whiteSpace: 'nowrap' } as const

interface CellProps {
  record: AuditRecord
  onFilter: (changed: Search) => void
}

function Actor({ record: { actor_id, actor_name, api_key_id, api_key_name }, onFilter }: CellProps) {
  if (actor_id === null) return actor_name ?? 'Nobody'
  return (
    <>
      <Filter onClick={() => onFilter({ actor_id })}>{actor_name ?? actor_id}</Filter>
      {api_key_id !== null && (
        <Text size="xs" c="dimmed">
          by the key{' '}
          <Anchor component="button" size="xs" ta="left" onClick={() => onFilter({ api_key_id })}>
            {api_key_name ?? api_key_id}
          </Anchor>
        </Text>
      )}
    </>
  )
}

function Resource({ record: { resource_type, resource_id }, onFilter }: CellProps) {
  if (resource_id === null) return resource_type
  return (
    <Filter onClick={() => onFilter({ resource_type, resource_id })}>
      {resource_type} <ShortId id={resource_id} />
    </Filter>
  )
}

function Filter({ onClick, children }: { onClick: () => void; children: React.ReactNode }) {
  return (
    <Anchor component="button" size="sm" ta="left" onClick={onClick} style={ONE_LINE}>
      {children}
    </Anchor>
  )
}

/** Details of a refusal and of a failure have an outcome and the code of the error. */
function Outcome({ details: { outcome, code } }: Pick<AuditRecord, 'details'>) {
  if (outcome !== 'refused' && outcome !== 'failed') return 'done'
  return (
    <Group gap={6}>
      <Text size="sm" fw={600}>
        {outcome}
      </Text>
      {typeof code === 'string' && <Code style={{ overflowWrap: 'anywhere' }}>{code}</Code>}
    </Group>
  )
}
