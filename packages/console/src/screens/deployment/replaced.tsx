import { Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useRead } from '../../api/queries.ts'
import { counted } from '../../components/counted.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty } from '../../components/page.tsx'
import { Replacements } from '../releases/replacements.tsx'

/** What the deployment replaced on its targets, and what it left out because nothing changes there. */
export function Replaced({ deployment }: { deployment: Answer<'getDeployment'> }) {
  const changes = useRead('getDeploymentChanges', { params: { id: deployment.id } })
  const { unchanged_target_ids } = deployment.config
  return (
    <>
      {unchanged_target_ids !== undefined && (
        <Text size="sm" mb="xs">
          {counted(unchanged_target_ids.length, 'target')} left out, with the same versions and values already
        </Text>
      )}
      <Loaded read={changes}>
        {({ replaces }) =>
          replaces.length === 0 ? (
            <Empty title="Nothing to compare" />
          ) : (
            <Replacements replaces={replaces} version={deployment[`${deployment.source_type}_version`] ?? ''} />
          )
        }
      </Loaded>
    </>
  )
}
