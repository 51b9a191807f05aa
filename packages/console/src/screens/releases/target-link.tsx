import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useSession } from '../../session/session.tsx'

/** The name of a target, which leads to it. */
export function TargetLink({ id, name }: { id: string; name: string }) {
  const { can } = useSession()
  if (!can('targets:read')) return name
  return (
    <Anchor component={Link} to={`/targets/${id}`} size="sm" fw={600}>
      {name}
    </Anchor>
  )
}
