import { Button, Group, Table, Text, VisuallyHidden } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'
import { RecordsPage } from '../administration/records-page.tsx'
import { searchQuery } from '../administration/search-query.ts'
import { TenantName } from '../administration/tenant.tsx'
import { useAddress } from '../administration/use-address.ts'
import { EnvironmentForm } from './environment-form.tsx'
import { VariableNames } from './variable-names.tsx'

type Environment = Item<'listEnvironments'>

export function Environments() {
  const { search, page } = useAddress()
  const text = search['search'] ?? ''
  const environments = useRead('listEnvironments', { query: { ...searchQuery(text), page, limit: 50 } }, { keep: true })
  return (
    <RecordsPage
      title="Environments"
      command="slipway export -d catalog"
      record="environment"
      purpose="An environment, such as staging or production, groups targets and has variables for deployments. Create the first one."
      permission="environments:create"
      read={environments}
      form={(onClose) => <EnvironmentForm onClose={onClose} />}
    >
      {(data) => <EnvironmentTable environments={data} />}
    </RecordsPage>
  )
}

function EnvironmentTable({ environments }: { environments: Environment[] }) {
  const { can } = useSession()
  const [changed, setChanged] = useState<Environment | null>(null)
  const remove = useWrite('deleteEnvironment', 'listEnvironments')
  return (
    <Table.ScrollContainer minWidth={760}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Tenant</Table.Th>
            <Table.Th>Variables</Table.Th>
            <Table.Th>Changed</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {environments.map((environment) => (
            <Table.Tr key={environment.id}>
              <Table.Td>
                <Text fw={600} size="sm">
                  {environment.name}
                </Text>
                <Text size="xs">{environment.description}</Text>
              </Table.Td>
              <Table.Td>
                <TenantName id={environment.tenant_id} />
              </Table.Td>
              <Table.Td>
                <VariableNames variables={environment.variables} />
              </Table.Td>
              <Table.Td>
                <TimeAgo at={environment.updated_at} />
              </Table.Td>
              <Table.Td>
                <Group gap={4} wrap="nowrap" justify="flex-end">
                  {can('environments:update') && (
                    <Button
                      size="compact-xs"
                      variant="default"
                      aria-label={`Change ${environment.name}`}
                      onClick={() => setChanged(environment)}
                    >
                      Change
                    </Button>
                  )}
                  {can('environments:delete') && (
                    <ConfirmButton
                      size="compact-xs"
                      variant="default"
                      label="Delete"
                      question={`The environment ${environment.name} and its variables are deleted. Slipway refuses this while a record belongs to the environment.`}
                      onConfirm={() => remove.mutateAsync({ params: { id: environment.id } })}
                    />
                  )}
                </Group>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {changed && <EnvironmentForm environment={changed} onClose={() => setChanged(null)} />}
    </Table.ScrollContainer>
  )
}
