import { Code } from '@mantine/core'
import { useRead } from '../../api/queries.ts'
import { ListScreen } from '../../components/list-screen.tsx'
import { Named } from '../../components/named.tsx'
import { RecordButtons } from '../../components/row-buttons.tsx'
import { sortQuery } from '../../components/sorting.ts'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useAddress } from '../../components/use-address.ts'
import { VariableNames } from '../../components/variable-names.tsx'
import { useSession } from '../../session/session.tsx'
import { TenantForm } from './tenant-form.tsx'

const SORTED = ['name', 'created_at'] as const

export function Tenants() {
  const { search, listQuery } = useAddress()
  const { can, user } = useSession()
  const tenants = useRead(
    'listTenants',
    { query: { ...listQuery, ...sortQuery(SORTED, search['sort']) } },
    { keep: true },
  )
  return (
    <ListScreen
      title="Tenants"
      command="slipway export -d catalog"
      record="tenant"
      purpose="A tenant is a customer or team: its users see only its own records. Without tenants, everybody shares all records."
      // Only users without tenant create tenants.
      permission={user.tenant_id === null ? 'tenants:create' : undefined}
      read={tenants}
      form={(tenant, onClose) => <TenantForm tenant={tenant} onClose={onClose} />}
      columns={[
        {
          head: 'Name',
          sort: 'name',
          copied: ({ name }) => name,
          cell: ({ name, description }) => <Named name={name}>{description}</Named>,
        },
        { head: 'Slug', copied: ({ slug }) => slug, cell: ({ slug }) => <Code>{slug}</Code> },
        { head: 'Variables', cell: ({ variables }) => <VariableNames variables={variables} /> },
        { head: 'Changed', width: 112, cell: ({ updated_at }) => <TimeAgo at={updated_at} /> },
      ]}
      actions={({ id, name }, open) => (
        <RecordButtons
          id={id}
          name={name}
          mayChange={can('tenants:update')}
          onChange={open}
          mayDelete={can('tenants:delete')}
          deletion={['deleteTenant', 'listTenants']}
          question={`The tenant ${name} and its variables are deleted. Slipway refuses this while a record belongs to the tenant.`}
        />
      )}
    />
  )
}
