import { Anchor, Text } from '@mantine/core'
import { Link, useSearch } from '@tanstack/react-router'
import { useRead } from '../../api/queries.ts'
import type { Kind } from '../../components/source-kinds.ts'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'

/** Offers to fill the form as in the last deployment of a source. */
export function LastDeployment({ kind, id }: { kind: Kind; id: string }) {
  const { can } = useSession()
  const { from } = useSearch({ strict: false })
  const query = { [`${kind}_id`]: id, limit: 1 }
  const found = useRead('listDeployments', { query }, { enabled: can('deployments:read') })
  const last = found.data?.data[0]
  if (last === undefined || last.id === from) return null
  return (
    <Text size="sm">
      <Anchor component={Link} to="/deploy" search={{ from: last.id } as never} size="sm">
        Fill in everything as in its last deployment
      </Anchor>
      , <TimeAgo at={last.created_at} />
    </Text>
  )
}
