import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Section } from '../../components/section.tsx'
import { useSession } from '../../session/session.tsx'

interface Props {
  title: string
  /** What the button changes, for screen readers. */
  changes: string
  form: (onClose: () => void) => ReactNode
  children: ReactNode
}

/** A part of a target, with a form that changes it. */
export function ChangeSection({ title, changes, form, children }: Props) {
  const { can } = useSession()
  const [isChanging, setChanging] = useState(false)
  const button = (
    <Button size="compact-xs" variant="default" aria-label={`Change ${changes}`} onClick={() => setChanging(true)}>
      Change
    </Button>
  )
  return (
    <Section title={title} action={can('targets:update') && button}>
      {children}
      {isChanging && form(() => setChanging(false))}
    </Section>
  )
}
