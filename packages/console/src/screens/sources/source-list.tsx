import { Anchor, Button, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useRead } from '../../api/queries.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Empty } from '../../components/page.tsx'
import { RecordList } from '../../components/record-list.tsx'
import { SearchInput } from '../../components/search-input.tsx'
import { searchQuery } from '../../components/search-query.ts'
import { sortQuery } from '../../components/sorting.ts'
import { KIND_LABELS, type Kind, OPERATIONS } from '../../components/source-kinds.ts'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'

const LIMIT = 50
const SORTED = ['name', 'updated_at'] as const

interface Props {
  kind: Kind
  search: string
  sort: string | undefined
  page: string
  onSearch: (text: string | undefined) => void
  onSort: (sort: string | undefined) => void
  onPage: (page: number) => void
  onCreate: () => void
}

/** The sources of one kind, newest first. */
export function SourceList({ kind, search, sort, page, onSearch, onSort, onPage, onCreate }: Props) {
  const { can } = useSession()
  const query = { page, limit: LIMIT, ...searchQuery(search), ...sortQuery(SORTED, sort) }
  const sources = useRead(OPERATIONS[kind].list, { query }, { keep: true })
  return (
    <Stack gap="sm">
      <SearchInput label="Search" placeholder="Part of the name" maw={320} value={search} onChange={onSearch} />
      <RecordList
        read={sources}
        empty={<NoSources kind={kind} isSearch={search !== ''} onCreate={onCreate} />}
        onPage={onPage}
      >
        {(data) => (
          <DataTable
            label={KIND_LABELS[kind]}
            name={KIND_LABELS[kind]}
            sorting={{ value: sort, onChange: onSort }}
            rows={data}
            columns={[
              {
                head: 'Name',
                sort: 'name',
                copied: ({ name }) => name,
                cell: ({ id, name }) => (
                  <Anchor component={Link} size="sm" fw={500} to={`/sources/${kind}s/${id}`}>
                    {name}
                  </Anchor>
                ),
              },
              {
                head: 'Latest version',
                width: 140,
                cell: ({ latest_version }) => latest_version ?? 'prereleases only',
              },
              {
                head: 'Description',
                cell: ({ description }) => (
                  <Text size="sm" lineClamp={1} title={description ?? ''}>
                    {description ?? '–'}
                  </Text>
                ),
              },
              {
                head: 'Changed',
                sort: '-updated_at',
                width: 112,
                cell: ({ updated_at }) => <TimeAgo at={updated_at} />,
              },
            ]}
            actions={can('deployments:create') ? (source) => <DeployButton kind={kind} {...source} /> : undefined}
          />
        )}
      </RecordList>
    </Stack>
  )
}

function DeployButton({ kind, id, name }: { kind: Kind; id: string; name: string }) {
  return (
    <Button
      component={Link}
      to="/deploy"
      search={{ kind, id } as never}
      size="compact-xs"
      variant="default"
      aria-label={`Deploy ${name}`}
    >
      Deploy
    </Button>
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
