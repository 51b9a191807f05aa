import { Table, VisuallyHidden } from '@mantine/core'
import type { Item } from '@slipway/client'
import { DeliveryRow } from './delivery-row.tsx'

export function DeliveryTable({ deliveries }: { deliveries: readonly Item<'listWebhookDeliveries'>[] }) {
  return (
    <Table.ScrollContainer minWidth={860}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={40}>
              <VisuallyHidden>Details</VisuallyHidden>
            </Table.Th>
            <Table.Th>Event</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>Attempts</Table.Th>
            <Table.Th>Answer</Table.Th>
            <Table.Th>Created</Table.Th>
            <Table.Th>Last attempt</Table.Th>
            <Table.Th>Next attempt</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {deliveries.map((delivery) => (
            <DeliveryRow key={delivery.id} delivery={delivery} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
