import { ActionIcon, Drawer, Group } from '@mantine/core'
import type { KeyboardEvent, ReactNode } from 'react'
import type { Step } from './grid-rows.ts'

/** Where an arrow leads from a step: to another one of its target, or to the same one of another target. */
export type Arrow = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown'

const ARROWS: { key: Arrow; sign: string; label: string }[] = [
  { key: 'ArrowLeft', sign: '←', label: 'Previous step' },
  { key: 'ArrowRight', sign: '→', label: 'Next step' },
  { key: 'ArrowUp', sign: '↑', label: 'Previous target' },
  { key: 'ArrowDown', sign: '↓', label: 'Next target' },
]

interface Props {
  /** The step that it shows; null: it is closed. */
  step: Step | null | undefined
  /** Whether there is a cell in that direction. */
  canGo: (arrow: Arrow) => boolean
  onGo: (arrow: Arrow) => void
  onClose: () => void
  children: ReactNode
}

/** A panel beside the grid, with the ways to the cells beside its own. */
export function StepPanel({ step, canGo, onGo, onClose, children }: Props) {
  const onKeyDown = (event: KeyboardEvent) => {
    const arrow = ARROWS.find(({ key }) => key === event.key)?.key
    const scrolls = event.target instanceof Element && event.target.closest('.output') !== null
    if (arrow === undefined || scrolls || !canGo(arrow)) return
    event.preventDefault()
    onGo(arrow)
  }
  return (
    <Drawer
      opened={Boolean(step)}
      onClose={onClose}
      onKeyDown={onKeyDown}
      position="right"
      size="lg"
      title={step ? `${step.action_name} on ${step.target_name}` : ''}
      closeButtonProps={{ 'aria-label': 'Close' }}
      overlayProps={{ backgroundOpacity: 0.15 }}
      transitionProps={{ duration: 0 }}
    >
      <Group gap={4}>
        {ARROWS.map(({ key, sign, label }) => (
          <ActionIcon
            key={key}
            variant="default"
            aria-label={label}
            title={label}
            disabled={!canGo(key)}
            onClick={() => onGo(key)}
          >
            {sign}
          </ActionIcon>
        ))}
      </Group>
      {children}
    </Drawer>
  )
}
