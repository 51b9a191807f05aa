import { Table, Text } from '@mantine/core'
import { VariableValue } from '../../components/variable-value.tsx'

/** The values that all targets share. Values of targets are not part of a preview. */
export function ResolvedVariables({ variables }: { variables: Record<string, unknown> }) {
  const entries = Object.entries(variables)
  if (entries.length === 0) return <Text size="sm">The plan has no variables.</Text>
  return (
    <Table.ScrollContainer minWidth={260}>
      <Table aria-label="Resolved variables" verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Value</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {entries.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Td>{name}</Table.Td>
              <Table.Td>
                <VariableValue value={value} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
