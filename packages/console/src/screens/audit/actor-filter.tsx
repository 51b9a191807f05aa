import { RecordSelect } from '../../components/record-select.tsx'
import { SearchInput } from '../../components/search-input.tsx'
import { useSession } from '../../session/session.tsx'

interface Props {
  value: string | undefined
  onChange: (id: string | undefined) => void
}

/** Whose records: a user, or the id of one for callers who may not list users. */
export function ActorFilter({ value, onChange }: Props) {
  const { can } = useSession()
  return can('users:read') ? (
    <RecordSelect
      kind="user"
      label="Actor"
      placeholder="Any user"
      value={value ?? null}
      onChange={(id) => onChange(id ?? undefined)}
    />
  ) : (
    <SearchInput label="Actor" placeholder="Id of a user" value={value} onChange={onChange} />
  )
}
