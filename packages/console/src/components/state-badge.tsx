import { Badge } from '@mantine/core'
import type { ReactNode } from 'react'

/** Dark enough for white text in both themes. */
export const STATE_COLOURS: Record<string, string> = {
  pending: 'gray.7',
  queued: 'gray.7',
  running: 'blue.8',
  success: '#1e7333',
  completed: '#1e7333',
  applied: '#1e7333',
  online: '#1e7333',
  active: '#1e7333',
  whole: '#1e7333',
  enabled: '#1e7333',
  delivered: '#1e7333',
  failed: 'red.9',
  rollback_failed: 'red.9',
  offline: 'red.9',
  cancelled: '#a8460b',
  stale: '#a8460b',
  drifted: '#a8460b',
  in_sync: '#1e7333',
  skipped: 'gray.7',
  rolling_back: 'grape.8',
  rolled_back: 'grape.8',
}

interface Props {
  state: string
  /** Stands in place of the state, such as "2 failed". */
  label?: ReactNode
}

export function StateBadge({ state, label = state.replaceAll('_', ' ') }: Props) {
  return (
    <Badge
      variant="filled"
      autoContrast={false}
      color={STATE_COLOURS[state] ?? 'gray.7'}
      c="white"
      tt="none"
      radius="sm"
      miw="max-content"
    >
      {label}
    </Badge>
  )
}
