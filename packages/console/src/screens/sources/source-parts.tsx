import { Anchor, Table } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useRead } from '../../api/queries.ts'
import { type Kind, OPERATIONS, PART_OF } from '../../components/source-kinds.ts'
import { useSession } from '../../session/session.tsx'
import { type Part, partsOf } from './parts-of.ts'

/** The sequences of a solution or the actions of a sequence, in order, with links. */
export function SourceParts({ kind, definition }: { kind: Kind; definition: unknown }) {
  const partKind = PART_OF[kind]
  if (partKind === null) return null
  return (
    <Table aria-label={`Its ${partKind}s in order`} w="auto">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>No.</Table.Th>
          <Table.Th tt="capitalize">{partKind}</Table.Th>
          <Table.Th>Version requirement</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {partsOf(kind, definition).map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same part may appear several times, in a fixed order
          <Table.Tr key={index}>
            <Table.Td>{index + 1}</Table.Td>
            <Table.Td>
              <PartLink kind={partKind} part={part} />
            </Table.Td>
            <Table.Td>{part.requirement ?? 'newest'}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

function PartLink({ kind, part }: { kind: Kind; part: Part }) {
  const { can } = useSession()
  const source = useRead(OPERATIONS[kind].get, { params: { id: part.id } }, { enabled: can(`${kind}s:read`) })
  return (
    <Anchor component={Link} size="sm" to={`/sources/${kind}s/${part.id}`}>
      {source.data?.name ?? part.id}
    </Anchor>
  )
}
