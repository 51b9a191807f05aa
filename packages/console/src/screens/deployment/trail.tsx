import { Table } from '@mantine/core'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty } from '../../components/page.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'

/** Who did what to this deployment. */
export function Trail({ id }: { id: string }) {
  const records = useRead('listAuditLogs', { query: { resource_type: 'deployment', resource_id: id, limit: 100 } })
  return (
    <Loaded read={records}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title="No record" />
        ) : (
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>When</Table.Th>
                <Table.Th>Who</Table.Th>
                <Table.Th>What</Table.Th>
                <Table.Th>From</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {data.map((record) => (
                <Table.Tr key={record.id}>
                  <Table.Td>
                    <TimeAgo at={record.at} />
                  </Table.Td>
                  <Table.Td>
                    {record.actor_name ?? 'nobody known'}
                    {record.api_key_name !== null && ` by the key ${record.api_key_name}`}
                  </Table.Td>
                  <Table.Td>{record.action}</Table.Td>
                  <Table.Td>{record.actor_ip ?? '–'}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )
      }
    </Loaded>
  )
}
