import { useRead } from '../../api/queries.ts'
import { OPERATIONS } from '../../components/source-kinds.ts'
import type { Search } from '../../components/use-address.ts'
import { WholeInput } from '../../components/whole-input.tsx'
import { useSession } from '../../session/session.tsx'
import { chosenSource } from './source-filter.tsx'

interface Props {
  search: Search
  onChange: (changed: Search) => void
}

/** Takes one version, and offers those of the source that another filter names. */
export function VersionFilter({ search, onChange }: Props) {
  const { can } = useSession()
  const { kind = 'action', id } = chosenSource(search)
  const enabled = id !== undefined && can(`${kind}s:read`)
  const source = useRead(OPERATIONS[kind].get, { params: { id: id ?? '' } }, { enabled })
  return (
    <WholeInput
      label="Version"
      placeholder="Such as 1.2.0"
      suggestions={id === undefined ? [] : source.data?.versions.map(({ version }) => version)}
      value={search['version']}
      onChange={(version) => onChange({ version })}
    />
  )
}
