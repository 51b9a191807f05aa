import { ActionIcon, Group, Switch, Text } from '@mantine/core'
import { useEffect } from 'react'
import { useChanges } from './changes.ts'
import type { LogStore } from './log-store.ts'
import { indexOf, matchBeside } from './match-order.ts'
import type { Found } from './use-found-lines.ts'

interface Props {
  log: LogStore
  found: Found
  chosen: number | null
  onChoose: (number: number) => void
  /** Whether the lines around the matches are shown, too. */
  isAround: boolean
  onAround: (isAround: boolean) => void
}

/** The way from match to match, also by F3 and Shift F3, and to the lines around one. */
export function LogMatches({ log, found: { lines, looked }, chosen, onChoose, isAround, onAround }: Props) {
  useChanges(log.changes)
  const index = indexOf(lines, chosen)
  const go = (step: 1 | -1) => {
    const number = matchBeside(lines, chosen, step)
    if (number !== undefined) onChoose(number)
  }
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isInSearch = event.target instanceof HTMLInputElement && event.target.type === 'search'
      if (event.key !== 'F3' && !(event.key === 'Enter' && isInSearch)) return
      event.preventDefault()
      go(event.shiftKey ? -1 : 1)
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  })
  return (
    <Group gap={4}>
      <ActionIcon
        variant="default"
        size="sm"
        aria-label="Previous match"
        title="Previous match (Shift F3)"
        onClick={() => go(-1)}
        disabled={lines.length === 0}
      >
        ↑
      </ActionIcon>
      <ActionIcon
        variant="default"
        size="sm"
        aria-label="Next match"
        title="Next match (F3)"
        onClick={() => go(1)}
        disabled={lines.length === 0}
      >
        ↓
      </ActionIcon>
      <Text size="xs" miw={60}>
        {index === null ? '–' : (index + 1).toLocaleString()} of {lines.length.toLocaleString()}
        {looked < log.count && '+'}
      </Text>
      <Switch
        size="xs"
        label="Show the lines around"
        checked={isAround}
        onChange={(event) => onAround(event.currentTarget.checked)}
      />
    </Group>
  )
}
