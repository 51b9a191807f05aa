import { RecordSelect } from './record-select.tsx'
import type { Search } from './use-address.ts'

interface Props {
  search: Search
  onChange: (changed: Search) => void
}

export function EnvironmentFilter({ search, onChange }: Props) {
  return (
    <RecordSelect
      kind="environment"
      label="Environment"
      placeholder="Any environment"
      value={search['environment_id'] ?? null}
      onChange={(id) => onChange({ environment_id: id ?? undefined })}
    />
  )
}
