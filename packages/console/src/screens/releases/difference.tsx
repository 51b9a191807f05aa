import { Anchor, SimpleGrid, Table } from '@mantine/core'
import type { Schema } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { VariableValue } from '../../components/variable-value.tsx'
import { useSession } from '../../session/session.tsx'
import { SourceLink } from './source-link.tsx'

type Differences = NonNullable<Schema<'Replacement'>['difference']>
type VersionDifference = Differences['versions'][number]

/** The versions of parts and the values of variables that differ. */
export function Difference({ difference: { versions, variables } }: { difference: Differences }) {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl" verticalSpacing={0}>
      {versions.length > 0 && (
        <DifferenceTable title="Versions that differ" what="Part">
          {versions.map((part) => (
            <Table.Tr key={`${part.kind} ${part.id}`}>
              <Table.Td>
                <SourceLink {...part} /> {part.kind}
              </Table.Td>
              <Table.Td>{part.before ?? '–'}</Table.Td>
              <Table.Td>
                {part.after ?? '–'} <CompareLink part={part} />
              </Table.Td>
            </Table.Tr>
          ))}
        </DifferenceTable>
      )}
      {variables.length > 0 && (
        <DifferenceTable title="Variables that differ" what="Variable">
          {variables.map(({ name, before, after }) => (
            <Table.Tr key={name}>
              <Table.Td>{name}</Table.Td>
              <Table.Td>
                <VariableValue value={before} />
              </Table.Td>
              <Table.Td>
                <VariableValue value={after} />
              </Table.Td>
            </Table.Tr>
          ))}
        </DifferenceTable>
      )}
    </SimpleGrid>
  )
}

function DifferenceTable({ title, what, children }: { title: string; what: string; children: React.ReactNode }) {
  return (
    <Table.ScrollContainer minWidth={300}>
      <Table aria-label={title} verticalSpacing={3}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{what}</Table.Th>
            <Table.Th>Before</Table.Th>
            <Table.Th>After</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

/** Leads to the difference between the two definitions. A plan may have several versions of a part. */
function CompareLink({ part: { kind, id, name, before, after } }: { part: VersionDifference }) {
  const { can } = useSession()
  if (before === null || after === null || `${before}${after}`.includes(',') || !can(`${kind}s:read`)) return null
  return (
    <Anchor
      component={Link}
      to={`/sources/${kind}s/${id}`}
      search={{ tab: 'compare', before, after } as never}
      size="sm"
      ml={6}
      aria-label={`Compare the versions of ${name}`}
    >
      compare
    </Anchor>
  )
}
