import { Button } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { type ReactNode, useState } from 'react'
import { DeniedButton } from '../../components/denied-button.tsx'
import { Section } from '../../components/section.tsx'
import { useRight } from '../../session/use-right.ts'

interface Props {
  target: Pick<Answer<'getTarget'>, 'environment_id'>
  title: string
  /** What the button edits, for screen readers. */
  changes: string
  form: (onClose: () => void) => ReactNode
  children: ReactNode
}

/** A part of a target, with a form that changes it. */
export function ChangeSection({ target: { environment_id }, title, changes, form, children }: Props) {
  const right = useRight('targets:update', { kind: 'target', environment_id })
  const [isChanging, setChanging] = useState(false)
  const look = { size: 'compact-xs', variant: 'default', 'aria-label': `Edit ${changes}` } as const
  const button = right.allowed ? (
    <Button {...look} onClick={() => setChanging(true)}>
      Edit
    </Button>
  ) : (
    <DeniedButton {...look} because={right.because}>
      Edit
    </DeniedButton>
  )
  return (
    <Section title={title} action={button}>
      {children}
      {isChanging && form(() => setChanging(false))}
    </Section>
  )
}
