import { Button, Code, Group, Table, Text, VisuallyHidden } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'
import { RecordsPage } from '../administration/records-page.tsx'
import { searchQuery } from '../administration/search-query.ts'
import { useAddress } from '../administration/use-address.ts'
import { VariableNames } from '../environments/variable-names.tsx'
import { TenantForm } from './tenant-form.tsx'

type Tenant = Item<'listTenants'>

export function Tenants() {
  const { search, page } = useAddress()
  const text = search['search'] ?? ''
  const tenants = useRead('listTenants', { query: { ...searchQuery(text), page, limit: 50 } }, { keep: true })
  return (
    <RecordsPage
      title="Tenants"
      command="slipway export -d catalog"
      record="tenant"
      purpose="A tenant is a customer or team: its users see only its own records. Without tenants, everybody shares all records."
      permission="tenants:create"
      read={tenants}
      form={(onClose) => <TenantForm onClose={onClose} />}
    >
      {(data) => <TenantTable tenants={data} />}
    </RecordsPage>
  )
}

function TenantTable({ tenants }: { tenants: Tenant[] }) {
  const { can } = useSession()
  const [changed, setChanged] = useState<Tenant | null>(null)
  const remove = useWrite('deleteTenant', 'listTenants')
  return (
    <Table.ScrollContainer minWidth={760}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Slug</Table.Th>
            <Table.Th>Variables</Table.Th>
            <Table.Th>Changed</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {tenants.map((tenant) => (
            <Table.Tr key={tenant.id}>
              <Table.Td>
                <Text fw={600} size="sm">
                  {tenant.name}
                </Text>
                <Text size="xs">{tenant.description}</Text>
              </Table.Td>
              <Table.Td>
                <Code>{tenant.slug}</Code>
              </Table.Td>
              <Table.Td>
                <VariableNames variables={tenant.variables} />
              </Table.Td>
              <Table.Td>
                <TimeAgo at={tenant.updated_at} />
              </Table.Td>
              <Table.Td>
                <Group gap={4} wrap="nowrap" justify="flex-end">
                  {can('tenants:update') && (
                    <Button
                      size="compact-xs"
                      variant="default"
                      aria-label={`Change ${tenant.name}`}
                      onClick={() => setChanged(tenant)}
                    >
                      Change
                    </Button>
                  )}
                  {can('tenants:delete') && (
                    <ConfirmButton
                      size="compact-xs"
                      variant="default"
                      label="Delete"
                      question={`The tenant ${tenant.name} and its variables are deleted. Slipway refuses this while a record belongs to the tenant.`}
                      onConfirm={() => remove.mutateAsync({ params: { id: tenant.id } })}
                    />
                  )}
                </Group>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {changed && <TenantForm tenant={changed} onClose={() => setChanged(null)} />}
    </Table.ScrollContainer>
  )
}
