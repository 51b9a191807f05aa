import { Code } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useRead, useWrite } from '../../api/queries.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Named } from '../../components/named.tsx'
import { RecordsPage } from '../../components/records-page.tsx'
import { RecordButtons } from '../../components/row-buttons.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useAddress } from '../../components/use-address.ts'
import { VariableNames } from '../../components/variable-names.tsx'
import { useSession } from '../../session/session.tsx'
import { TenantForm } from './tenant-form.tsx'

export function Tenants() {
  const { listQuery } = useAddress()
  const { user } = useSession()
  const tenants = useRead('listTenants', { query: listQuery }, { keep: true })
  return (
    <RecordsPage
      title="Tenants"
      command="slipway export -d catalog"
      record="tenant"
      purpose="A tenant is a customer or team: its users see only its own records. Without tenants, everybody shares all records."
      // Only users without tenant create tenants.
      {...(user.tenant_id === null ? { permission: 'tenants:create' } : {})}
      read={tenants}
      form={(tenant, onClose) => <TenantForm tenant={tenant} onClose={onClose} />}
    >
      {(data, change) => (
        <DataTable
          rows={data}
          minWidth={760}
          columns={[
            { head: 'Name', cell: ({ name, description }) => <Named name={name}>{description}</Named> },
            { head: 'Slug', cell: ({ slug }) => <Code>{slug}</Code> },
            { head: 'Variables', cell: ({ variables }) => <VariableNames variables={variables} /> },
            { head: 'Changed', cell: ({ updated_at }) => <TimeAgo at={updated_at} /> },
          ]}
          actions={(tenant) => <Actions tenant={tenant} onChange={() => change(tenant)} />}
        />
      )}
    </RecordsPage>
  )
}

function Actions({ tenant: { id, name }, onChange }: { tenant: Item<'listTenants'>; onChange: () => void }) {
  const remove = useWrite('deleteTenant', 'listTenants')
  return (
    <RecordButtons
      resource="tenants"
      name={name}
      question={`The tenant ${name} and its variables are deleted. Slipway refuses this while a record belongs to the tenant.`}
      onChange={onChange}
      onDelete={() => remove.mutateAsync({ params: { id } })}
    />
  )
}
