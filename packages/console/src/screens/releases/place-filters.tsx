import { EnvironmentFilter } from '../../components/environment-filter.tsx'
import { RecordSelect } from '../../components/record-select.tsx'
import type { Search } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'

interface Props {
  search: Search
  onChange: (changed: Search) => void
}

/** Chooses an environment and, for users who see several, a tenant. */
export function PlaceFilters({ search, onChange }: Props) {
  const { user } = useSession()
  return (
    <>
      <EnvironmentFilter search={search} onChange={onChange} />
      {user.tenant_id === null && (
        <RecordSelect
          kind="tenant"
          label="Tenant"
          placeholder="Any tenant"
          value={search['tenant_id'] ?? null}
          onChange={(id) => onChange({ tenant_id: id ?? undefined })}
        />
      )}
    </>
  )
}
