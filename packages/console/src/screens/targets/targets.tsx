import { Select } from '@mantine/core'
import type { Input } from '@slipway/client'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { shellQuoted } from '../../components/commands.ts'
import { ListScreen } from '../../components/list-screen.tsx'
import { RecordSelect } from '../../components/record-select.tsx'
import { sortQuery } from '../../components/sorting.ts'
import { TagFilter } from '../../components/tags.tsx'
import { type Search, useAddress } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { useRight } from '../../session/use-right.ts'
import { BulkActs } from './bulk-acts.tsx'
import { CreateTarget } from './create-target.tsx'
import { COLUMNS, DeployLink } from './target-columns.tsx'

type Query = NonNullable<Input<'listTargets'>['query']>

/** What the filter offers, and what it asks the API for. */
const STATUSES: Record<string, Pick<Query, 'status' | 'enabled'>> = {
  online: { status: 'online' },
  stale: { status: 'stale' },
  offline: { status: 'offline' },
  disabled: { enabled: 'false' },
}

const SORTED = ['name', 'status', 'environment_name', 'last_seen_at'] as const

export function Targets() {
  const { search: address, listQuery } = useAddress()
  const { can } = useSession()
  const createRight = useRight('targets:create')
  useLive('listTargets')
  const { tag, environment, status } = address
  const query: Query = {
    ...listQuery,
    ...sortQuery(SORTED, address['sort']),
    ...(tag === undefined ? {} : { tag }),
    ...(environment === undefined ? {} : { environment_id: environment }),
    ...(status === undefined ? {} : STATUSES[status]),
  }
  const targets = useRead('listTargets', { query }, { keep: true })
  return (
    <ListScreen
      title="Targets"
      command={commandOf(address)}
      record="target"
      filters={<Filters />}
      isFiltered={[tag, environment, status].some((filter) => filter !== undefined)}
      purpose="A target is a machine on which deployments run commands. Create the first one; a simulated target needs no machine."
      createRight={createRight}
      read={targets}
      form={(_, onClose) => <CreateTarget isFirst={address['new'] === 'first'} onClose={onClose} />}
      columns={COLUMNS}
      actionsWidth={98}
      bulk={{
        nameOf: ({ name }) => name,
        acts: (targets, onDone) => <BulkActs targets={targets} onDone={onDone} />,
      }}
      actions={can('deployments:create') ? (target) => target.enabled && <DeployLink target={target} /> : undefined}
    />
  )
}

function Filters() {
  const { search, change } = useAddress()
  return (
    <>
      <Select
        label="Status"
        placeholder="Any"
        clearable
        clearButtonProps={{ 'aria-label': 'Any status' }}
        data={Object.keys(STATUSES)}
        value={search['status'] ?? null}
        onChange={(status) => change({ status: status ?? undefined })}
      />
      <RecordSelect
        kind="environment"
        label="Environment"
        placeholder="Any environment"
        value={search['environment'] ?? null}
        onChange={(id) => change({ environment: id ?? undefined })}
      />
      <TagFilter value={search['tag']} onChange={(tag) => change({ tag })} />
    </>
  )
}

function commandOf({ search, tag, environment, status }: Search): string {
  const options = [
    search && `--search ${shellQuoted(search)}`,
    tag && `--tag ${shellQuoted(tag)}`,
    environment && `--environment ${environment}`,
    status && STATUSES[status]?.status && `--status ${status}`,
  ]
  return ['slipway targets list', ...options.filter(Boolean)].join(' ')
}
