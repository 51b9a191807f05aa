import type { Answer } from '@slipway/client'
import { useState } from 'react'
import { useLive } from '../../api/live.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Empty } from '../../components/page.tsx'
import { RecordList } from '../../components/record-list.tsx'
import { RecordName } from '../../components/record-select.tsx'
import { DeleteButton } from '../../components/row-buttons.tsx'
import { NewButton, Section } from '../../components/section.tsx'
import { ShortId } from '../../components/short-id.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { exactTime, TimeAgo } from '../../components/time-ago.tsx'
import { useAddress } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { CreateJoinToken } from './create-join-token.tsx'
import { Labels } from './labels.tsx'

type Grant = Answer<'listInstanceGrants'>['data'][number]

/** The tokens with which instances join. They belong to the installation, so users of a tenant do not see them. */
export function JoinTokens() {
  const { user } = useSession()
  return user.tenant_id === null ? <AllJoinTokens /> : null
}

function AllJoinTokens() {
  const { search, change } = useAddress()
  const { can } = useSession()
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<Answer<'createInstanceGrant'> | null>(null)
  const query = { page: search['tokens'] ?? '1', limit: 20 }
  useLive('listInstanceGrants')
  const grants = useRead('listInstanceGrants', { query }, { keep: true })
  return (
    <Section
      title="Join tokens"
      action={can('instances:create') && <NewButton label="New join token" onClick={() => setCreating(true)} />}
    >
      <RecordList
        read={grants}
        empty={<Empty title="There is no join token">An instance needs a join token to join.</Empty>}
        onPage={(page) => change({ page: search['page'], tokens: String(page) })}
      >
        {(data) => <GrantTable grants={data} />}
      </RecordList>
      {isCreating && <CreateJoinToken onCreated={setCreated} onClose={() => setCreating(false)} />}
      {created && (
        <ShownOnce
          title="Join token"
          explanation={`${created.uses === 1 ? 'One instance joins' : `${created.uses} instances join`} with this token until ${exactTime(created.expires_at)}. Store it in a file and start the instance with SLIPWAY_JOIN_TOKEN_FILE. Slipway does not show the token again.`}
          values={[created.token]}
          onClose={() => setCreated(null)}
        />
      )}
    </Section>
  )
}

function GrantTable({ grants }: { grants: Grant[] }) {
  const { can } = useSession()
  return (
    <DataTable
      rows={grants}
      columns={[
        { head: 'Id', width: 140, copied: ({ id }) => id, cell: ({ id }) => <ShortId id={id} /> },
        { head: 'Status', width: 100, cell: ({ status }) => <StateBadge state={status} /> },
        { head: 'Used', width: 90, cell: ({ used, uses }) => `${used} of ${uses}` },
        { head: 'Allowed labels', wraps: true, cell: ({ labels }) => <Labels labels={labels} /> },
        { head: 'Tenant', width: 130, cell: ({ tenant_id }) => <RecordName kind="tenant" id={tenant_id} none="all" /> },
        { head: 'Expires', width: 112, cell: ({ expires_at }) => <TimeAgo at={expires_at} /> },
      ]}
      actions={can('instances:delete') ? ({ id }) => <Revoke id={id} /> : undefined}
    />
  )
}

function Revoke({ id }: { id: string }) {
  const revoke = useWrite('revokeInstanceGrant', 'listInstanceGrants')
  return (
    <DeleteButton
      label="Revoke"
      name={id}
      question="No instance can join with this token any more. Instances that have joined stay."
      onConfirm={() => revoke.mutateAsync({ params: { id } })}
    />
  )
}
