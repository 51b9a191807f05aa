import { useRead } from '../../api/queries.ts'
import { WholeInput } from '../../components/whole-input.tsx'
import { useSession } from '../../session/session.tsx'

const MAX_SUGGESTED = 100

interface Props {
  value: string | undefined
  onChange: (username: string | undefined) => void
}

/** A user name. Whoever may list users chooses it. */
export function TriggeredBy({ value, onChange }: Props) {
  const { can } = useSession()
  const users = useRead('listUsers', { query: { limit: MAX_SUGGESTED } }, { enabled: can('users:read') })
  return (
    <WholeInput
      label="Triggered by"
      placeholder="User name"
      suggestions={users.data?.data.map(({ username }) => username)}
      value={value}
      onChange={onChange}
    />
  )
}
