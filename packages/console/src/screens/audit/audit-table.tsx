import { Table, VisuallyHidden } from '@mantine/core'
import type { Item } from '@slipway/client'
import type { Search } from '../../app/router.tsx'
import { AuditRow } from './audit-row.tsx'

interface Props {
  records: readonly Item<'listAuditLogs'>[]
  onFilter: (changed: Search) => void
}

export function AuditTable({ records, onFilter }: Props) {
  return (
    <Table.ScrollContainer minWidth={860}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={40}>
              <VisuallyHidden>Details</VisuallyHidden>
            </Table.Th>
            <Table.Th>When</Table.Th>
            <Table.Th>Actor</Table.Th>
            <Table.Th>Address</Table.Th>
            <Table.Th>Action</Table.Th>
            <Table.Th>Resource</Table.Th>
            <Table.Th>Outcome</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {records.map((record) => (
            <AuditRow key={record.id} record={record} onFilter={onFilter} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
