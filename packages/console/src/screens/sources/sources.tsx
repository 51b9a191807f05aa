import { Badge, Button, Skeleton, Tabs } from '@mantine/core'
import { Page } from '../../components/page.tsx'
import { KIND_LABELS, KINDS, type Kind, parseKind } from '../../components/source-kinds.ts'
import { useAddress } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { CreateSource } from './create-source.tsx'
import { SourceList } from './source-list.tsx'
import { useSourceTotals, useUsualKind } from './totals.ts'

/** Solutions, sequences and actions, one tab each. */
export function Sources() {
  const { search, change, page, toPage } = useAddress()
  const { can } = useSession()
  const asked = parseKind(search['kind'])
  const usual = useUsualKind(asked === null)
  const totals = useSourceTotals()
  const kind = asked ?? usual
  if (kind === null) {
    return (
      <Page title="Sources">
        <Skeleton h={120} aria-busy="true" aria-label="Loading" />
      </Page>
    )
  }
  const create = (one: Kind) => change({ kind: one, new: 'yes' })
  return (
    <Page
      title="Sources"
      command="slipway export -d catalog"
      actions={
        can(`${kind}s:create`) && (
          <Button size="xs" onClick={() => create(kind)}>
            New {kind}
          </Button>
        )
      }
    >
      <Tabs
        value={kind}
        onChange={(chosen) => change({ kind: chosen ?? undefined, search: undefined, sort: undefined })}
      >
        <Tabs.List>
          {KINDS.filter((one) => can(`${one}s:read`)).map((one) => (
            <Tabs.Tab key={one} value={one} rightSection={<Count total={totals[one]} />}>
              {KIND_LABELS[one]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={kind} pt="md">
          <SourceList
            key={kind}
            kind={kind}
            search={search['search'] ?? ''}
            sort={search['sort']}
            page={page}
            onSearch={(text) => change({ search: text })}
            onSort={(sort) => change({ sort })}
            onPage={toPage}
            onCreate={() => create(kind)}
          />
        </Tabs.Panel>
      </Tabs>
      {search['new'] !== undefined && can(`${kind}s:create`) && (
        <CreateSource key={kind} kind={kind} onClose={() => change({ new: undefined })} onKind={create} />
      )}
    </Page>
  )
}

function Count({ total }: { total: number | undefined }) {
  if (total === undefined) return null
  return (
    <Badge variant="default" size="sm" radius="sm">
      {total.toLocaleString()}
    </Badge>
  )
}
