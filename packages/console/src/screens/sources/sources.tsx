import { Anchor, Button, Group, Table, Tabs, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'
import { CreateSource } from './create-source.tsx'
import { KIND_LABELS, KINDS, type Kind, OPERATIONS, parseKind } from './kinds.ts'

const LIMIT = 50
const SEARCH_DELAY_MS = 250

/** Solutions, sequences and actions, one tab each. */
export function Sources() {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const { can } = useSession()
  const [isCreating, setCreating] = useState(false)
  const visible = KINDS.filter((kind) => can(`${kind}s:read`))
  const kind = parseKind(search['kind']) ?? visible[0] ?? 'solution'
  const change = (changes: Record<string, string | undefined>, replace = false) =>
    void navigate({ to: '/sources', search: { ...search, page: undefined, ...changes }, replace })
  return (
    <Page
      title="Sources"
      command="slipway export -d DIRECTORY"
      actions={can(`${kind}s:create`) && <Button onClick={() => setCreating(true)}>New {kind}</Button>}
    >
      <Tabs value={kind} onChange={(chosen) => change({ kind: chosen ?? undefined, search: undefined })}>
        <Tabs.List>
          {visible.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {KIND_LABELS[one]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={kind} pt="md">
          <SourceList
            key={kind}
            kind={kind}
            search={search['search'] ?? ''}
            page={Number(search['page'] ?? 1)}
            onSearch={(text) => change({ search: text }, true)}
            onPage={(page) => change({ page: String(page) })}
          />
        </Tabs.Panel>
      </Tabs>
      {isCreating && <CreateSource kind={kind} onClose={() => setCreating(false)} />}
    </Page>
  )
}

interface ListProps {
  kind: Kind
  search: string
  page: number
  onSearch: (text: string) => void
  onPage: (page: number) => void
}

function SourceList({ kind, search, page, onSearch, onPage }: ListProps) {
  const [text, setText] = useState(search)
  const searchLater = useDebouncedCallback(onSearch, SEARCH_DELAY_MS)
  const query = { page, limit: LIMIT, ...(search === '' ? {} : { search }) }
  const sources = useRead(OPERATIONS[kind].list, { query }, { keep: true })
  return (
    <>
      <Group mb="sm">
        <TextInput
          w={320}
          label="Name contains"
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value)
            searchLater(event.currentTarget.value)
          }}
        />
      </Group>
      <Loaded read={sources}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <NoSources kind={kind} isSearch={search !== ''} />
          ) : (
            <>
              <Table.ScrollContainer minWidth={500}>
                <Table aria-label={KIND_LABELS[kind]}>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>Name</Table.Th>
                      <Table.Th>Latest version</Table.Th>
                      <Table.Th>Description</Table.Th>
                      <Table.Th>Created</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {data.map((source) => (
                      <Table.Tr key={source.id}>
                        <Table.Td>
                          <Anchor component={Link} size="sm" to={`/sources/${kind}s/${source.id}`}>
                            {source.name}
                          </Anchor>
                        </Table.Td>
                        <Table.Td>{source.latest_version ?? 'prereleases only'}</Table.Td>
                        <Table.Td>{source.description ?? ''}</Table.Td>
                        <Table.Td>
                          <TimeAgo at={source.created_at} />
                        </Table.Td>
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
    </>
  )
}

const FIRST_STEPS: Record<Kind, string> = {
  action: 'An action is a script that runs on targets. Create one here, or run slipway apply -f with a file.',
  sequence: 'A sequence runs actions in order. Create its actions first.',
  solution: 'A solution deploys sequences together. Create its sequences first.',
}

function NoSources({ kind, isSearch }: { kind: Kind; isSearch: boolean }) {
  return isSearch ? (
    <Empty title={`No ${kind} has this in its name`}>Search for less of the name.</Empty>
  ) : (
    <Empty title={`There is no ${kind} yet`}>{FIRST_STEPS[kind]}</Empty>
  )
}
