import { Anchor, Stack, Table, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { client } from '../../api/client.ts'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty } from '../../components/page.tsx'
import { KINDS, type Kind, OPERATIONS, PART_OF } from '../../components/source-kinds.ts'
import { partsOf } from './parts-of.ts'

/** Each needs a call for its definition. */
const MAX_READ = 100

/** The kind that consists of sources of this kind; a solution is part of nothing. */
export const usersOf = (kind: Kind): Kind | null => KINDS.find((one) => PART_OF[one] === kind) ?? null

interface Props {
  kind: Kind
  /** The forms of the id of the source that a definition may hold. */
  ids: string[]
}

/** The sequences or solutions with this source in their latest version. The API does not search definitions. */
export function UsedBy({ kind, ids }: Props) {
  const parent = usersOf(kind)
  const operations = OPERATIONS[parent ?? 'solution']
  const list = useRead(operations.list, { query: { limit: MAX_READ } }, { enabled: parent !== null })
  const parents = (list.data?.data ?? []).filter(({ latest_version }) => latest_version !== null)
  const requirements = useQueries({
    queries: parents.map(({ id, latest_version }) => {
      const params = { id, version: latest_version ?? '' }
      return {
        queryKey: [operations.getVersion, { params }],
        queryFn: () => client.call(operations.getVersion, { params }),
        staleTime: Number.POSITIVE_INFINITY,
      }
    }),
  })
  if (parent === null) return null
  const uses = parents.flatMap((source, index) => {
    const definition = requirements[index]?.data?.definition
    const part = definition === undefined ? undefined : partsOf(parent, definition).find(({ id }) => ids.includes(id))
    return part ? [{ source, requirement: part.requirement ?? 'newest' }] : []
  })
  const read = {
    data: list.data && requirements.every(({ isPending }) => !isPending) ? uses : undefined,
    error: list.error ?? requirements.find(({ error }) => error !== null)?.error ?? null,
  }
  return (
    <Stack gap="xs">
      <Loaded read={read}>
        {(found) =>
          found.length === 0 ? (
            <Empty title={`No ${parent} uses this ${kind}`} />
          ) : (
            <UsesTable parent={parent} uses={found} />
          )
        }
      </Loaded>
      {(list.data?.meta.total ?? 0) > MAX_READ && (
        <Text size="sm">
          Only the newest {MAX_READ} {parent}s were searched.
        </Text>
      )}
    </Stack>
  )
}

interface Use {
  source: Item<'listSequences'>
  requirement: string
}

function UsesTable({ parent, uses }: { parent: Kind; uses: Use[] }) {
  return (
    <Table.ScrollContainer minWidth={400}>
      <Table aria-label={`The ${parent}s that use it`}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th tt="capitalize">{parent}</Table.Th>
            <Table.Th>Latest version</Table.Th>
            <Table.Th>Version requirement</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {uses.map(({ source, requirement }) => (
            <Table.Tr key={source.id}>
              <Table.Td>
                <Anchor component={Link} size="sm" to={`/sources/${parent}s/${source.id}`}>
                  {source.name}
                </Anchor>
              </Table.Td>
              <Table.Td>{source.latest_version}</Table.Td>
              <Table.Td>{requirement}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
