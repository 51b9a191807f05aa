import { Anchor, Text } from '@mantine/core'
import { Link, useSearch } from '@tanstack/react-router'
import { useRead } from '../../api/queries.ts'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'
import type { Kind } from '../sources/kinds.ts'

/** Other sources can have names that contain this one. */
const READ = 20

/** Offers to fill the form as in the last deployment of a source. The API finds deployments by name. */
export function LastDeployment({ kind, id, name }: { kind: Kind; id: string; name: string | undefined }) {
  const { can } = useSession()
  const { from } = useSearch({ strict: false })
  const query = { search: name ?? '', source_type: kind, limit: READ }
  const found = useRead('listDeployments', { query }, { enabled: name !== undefined && can('deployments:read') })
  const last = found.data?.data.find((deployment) => deployment[`${kind}_id`] === id)
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
