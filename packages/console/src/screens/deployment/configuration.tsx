import { SimpleGrid, Stack, Table, Title } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { VariableValue } from '../../components/variable-value.tsx'

type Deployment = Answer<'getDeployment'>

/** How the deployment was asked for, and the values that its commands got. Secrets are masked by the server. */
export function Configuration({ deployment }: { deployment: Deployment }) {
  const { target_ids, target_tags, unchanged_target_ids, variables, ...config } = deployment.config
  const settings: [string, unknown][] = [
    ...Object.entries(config),
    ['targets', target_ids.length],
    ['target tags', target_tags.map(({ key, value }) => `${key}=${value}`).join(', ') || '–'],
    ...(unchanged_target_ids === undefined ? [] : [withoutChange(unchanged_target_ids)]),
  ]
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Facts title="Settings" facts={settings} />
      <Stack>
        <Facts title="Values of the request" facts={Object.entries(variables)} />
        <Facts title="Resolved values" facts={Object.entries(deployment.plan?.resolved_variables ?? {})} />
      </Stack>
    </SimpleGrid>
  )
}

/** The list itself may have thousands of ids. */
const withoutChange = (ids: readonly string[]): [string, unknown] => ['targets left out without a change', ids.length]

function Facts({ title, facts }: { title: string; facts: [string, unknown][] }) {
  return (
    <div>
      <Title order={2} size="h5">
        {title}
      </Title>
      {facts.length === 0 ? (
        'None'
      ) : (
        <Table>
          <Table.Tbody>
            {facts.map(([name, value]) => (
              <Table.Tr key={name}>
                <Table.Th w={200}>{name.replaceAll('_', ' ')}</Table.Th>
                <Table.Td>
                  <VariableValue value={value} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </div>
  )
}
