import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useSession } from '../session/session.tsx'

interface Props {
  id: string
  name: string
  /** Small beside what is more important. */
  size?: 'xs' | 'sm'
}

/** The name of a target, which leads to it. */
export function TargetLink({ id, name, size = 'sm' }: Props) {
  const { can } = useSession()
  if (!can('targets:read')) return name
  return (
    <Anchor component={Link} to={`/targets/${id}`} size={size} {...(size === 'sm' ? { fw: 600 } : {})}>
      {name}
    </Anchor>
  )
}
