import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Kind } from '../../components/source-kinds.ts'
import { useSession } from '../../session/session.tsx'

interface Props {
  kind: Kind
  id: string
  name: string
}

/** The name of a source, which leads to it. */
export function SourceLink({ kind, id, name }: Props) {
  const { can } = useSession()
  if (!can(`${kind}s:read`)) return name
  return (
    <Anchor component={Link} to={`/sources/${kind}s/${id}`} size="sm" fw={600}>
      {name}
    </Anchor>
  )
}
