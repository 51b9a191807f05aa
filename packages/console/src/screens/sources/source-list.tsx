import { Anchor, Button, Stack, Table, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { SearchInput } from '../../components/search-input.tsx'
import { searchQuery } from '../../components/search-query.ts'
import { KIND_LABELS, type Kind, OPERATIONS } from '../../components/source-kinds.ts'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'

const LIMIT = 50

interface Props {
  kind: Kind
  search: string
  page: string
  onSearch: (text: string | undefined) => void
  onPage: (page: number) => void
  onCreate: () => void
}

/** The sources of one kind, newest first. */
export function SourceList({ kind, search, page, onSearch, onPage, onCreate }: Props) {
  const { can } = useSession()
  const query = { page, limit: LIMIT, ...searchQuery(search) }
  const sources = useRead(OPERATIONS[kind].list, { query }, { keep: true })
  return (
    <Stack gap="sm">
      <SearchInput label="Search" placeholder="Part of the name" maw={320} value={search} onChange={onSearch} />
      <Loaded read={sources}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <NoSources kind={kind} isSearch={search !== ''} onCreate={onCreate} />
          ) : (
            <>
              <Table.ScrollContainer minWidth={560}>
                <Table aria-label={KIND_LABELS[kind]}>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>Name</Table.Th>
                      <Table.Th>Latest version</Table.Th>
                      <Table.Th>Description</Table.Th>
                      <Table.Th>Changed</Table.Th>
                      {can('deployments:create') && (
                        <Table.Th>
                          <span className="visually-hidden">Actions</span>
                        </Table.Th>
                      )}
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {data.map((source) => (
                      <Table.Tr key={source.id}>
                        <Table.Td>
                          <Anchor component={Link} size="sm" fw={500} to={`/sources/${kind}s/${source.id}`}>
                            {source.name}
                          </Anchor>
                        </Table.Td>
                        <Table.Td>{source.latest_version ?? 'prereleases only'}</Table.Td>
                        <Table.Td>
                          <Text size="sm" lineClamp={1} title={source.description ?? ''}>
                            {source.description ?? '–'}
                          </Text>
                        </Table.Td>
                        <Table.Td>
                          <TimeAgo at={source.updated_at} />
                        </Table.Td>
                        {can('deployments:create') && (
                          <Table.Td ta="right">
                            <Button
                              component={Link}
                              to="/deploy"
                              search={{ kind, id: source.id } as never}
                              size="compact-xs"
                              variant="default"
                              aria-label={`Deploy ${source.name}`}
                            >
                              Deploy
                            </Button>
                          </Table.Td>
                        )}
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </Table.ScrollContainer>
              <Pager meta={meta} onPage={onPage} />
            </>
          )
        }
      </Loaded>
    </Stack>
  )
}

const FIRST_STEPS: Record<Kind, string> = {
  action: 'An action is a script that runs on targets. It is all that a first deployment needs.',
  sequence: 'A sequence runs actions in order.',
  solution: 'A solution releases sequences together, under one version.',
}

function NoSources({ kind, isSearch, onCreate }: { kind: Kind; isSearch: boolean; onCreate: () => void }) {
  const { can } = useSession()
  if (isSearch) return <Empty title={`No ${kind} has this in its name`}>Search for less of the name.</Empty>
  return (
    <Empty title={`There is no ${kind} yet`}>
      {FIRST_STEPS[kind]} Files in YAML do it too: slipway apply -f DIRECTORY.
      {can(`${kind}s:create`) && (
        <div>
          <Button mt="sm" onClick={onCreate}>
            Create the first {kind}
          </Button>
        </div>
      )}
    </Empty>
  )
}
