import { ActionIcon } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useWrite } from '../../api/queries.ts'
import { movedPositions } from './move.ts'

interface Props {
  id: string
  name: string
  /** The page of the list. */
  listed: readonly Item<'listEnvironments'>[]
}

/** Moves an environment before or after its neighbour, where both have a position. */
export function MoveButtons({ id, name, listed }: Props) {
  const update = useWrite('updateEnvironment', 'listEnvironments', 'getEnvironment', 'getReleaseMatrix')
  const move = async (step: -1 | 1) => {
    for (const { id: changed, position } of movedPositions(listed, id, step) ?? [])
      await update.mutateAsync({ params: { id: changed }, body: { position } })
  }
  const button = (step: -1 | 1, label: string, sign: string) => (
    <ActionIcon
      size={22}
      variant="default"
      aria-label={`${label}: ${name}`}
      title={update.error?.message ?? label}
      disabled={movedPositions(listed, id, step) === null || update.isPending}
      // Where it fails, the list shows that nothing has moved.
      onClick={() => void move(step).catch(() => undefined)}
    >
      {sign}
    </ActionIcon>
  )
  return (
    <>
      {button(-1, 'Move up', '↑')}
      {button(1, 'Move down', '↓')}
    </>
  )
}
