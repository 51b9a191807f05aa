import { Alert, Button, Group, Modal, type ModalProps, Stack, Text } from '@mantine/core'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { ALLOWED, type Right } from '../session/use-right.ts'
import { DeniedButton } from './denied-button.tsx'
import { ErrorAlert } from './error-alert.tsx'
import { fieldProblems, type ProblemAt } from './field-problem.ts'
import { entriesOf } from './form-entries.ts'

interface Props extends Pick<ModalProps, 'size'> {
  title: string
  submitLabel: string
  /** The writes of this form: while one runs the form is busy, and the first error is shown. */
  writes: readonly { isPending: boolean; error: Error | null }[]
  /** Whether the user may do what the form says now. */
  may?: Right
  /** Deletes or ends something for good: the button that acts is red. */
  destroys?: boolean
  /** In place of "Cancel", where the act itself is to cancel something. */
  dismissLabel?: string
  onSubmit: () => unknown
  onClose: () => void
  /** A function gets what shows a problem at its field. */
  children: ReactNode | ((problemAt: ProblemAt) => ReactNode)
}

/**
 * A form in a dialog. What the server refuses stands at its field; above the buttons stands what has no field. Escape, and
 * a click beside the dialog, ask before they discard what was entered.
 */
export function FormModal({ title, submitLabel, writes, onSubmit, onClose, children, size = 'lg', ...given }: Props) {
  const { may = ALLOWED, destroys = false, dismissLabel = 'Cancel' } = given
  const form = useRef<HTMLFormElement>(null)
  /** What the form held when it appeared. */
  const initial = useRef<string | null>(null)
  const [isLeaving, setLeaving] = useState(false)
  const busy = writes.some(({ isPending }) => isPending)
  const error = writes.find((write) => write.error !== null)?.error ?? null
  useEffect(() => {
    const wrong = error && form.current?.querySelector<HTMLElement>('[aria-invalid=true]')
    wrong?.focus()
    // Focus alone leaves it behind the title of the dialog.
    wrong?.scrollIntoView({ block: 'center' })
  }, [error])
  const problems = fieldProblems(error)
  const fields = typeof children === 'function' ? children(problems.at) : children
  const rest = problems.rest()
  // The dialog shows its content later than it is mounted itself.
  const appear = (element: HTMLFormElement | null) => {
    form.current = element
    if (element !== null) initial.current ??= entriesOf(element)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // React passes events through portals: without this, a form around the dialog would be submitted too.
    event.stopPropagation()
    if (!busy && may.allowed) onSubmit()
  }
  const leave = () => {
    // What is on its way would go on unseen.
    if (busy) return
    if (entriesOf(form.current) === initial.current) onClose()
    else setLeaving(!isLeaving)
  }
  return (
    <Modal opened onClose={leave} title={title} size={size}>
      <form onSubmit={submit} ref={appear}>
        <Stack>
          {fields}
          {rest && <ErrorAlert error={rest} />}
          {may.because !== null && (
            <Text size="sm" role="status">
              {may.because}.
            </Text>
          )}
          {isLeaving ? (
            <Discard onKeep={() => setLeaving(false)} onDiscard={onClose} />
          ) : (
            <Group justify="flex-end">
              <Button variant="default" disabled={busy} onClick={onClose}>
                {dismissLabel}
              </Button>
              {may.allowed ? (
                <Button type="submit" loading={busy} {...(destroys ? { color: 'red.9' } : {})}>
                  {submitLabel}
                </Button>
              ) : (
                <DeniedButton because={may.because}>{submitLabel}</DeniedButton>
              )}
            </Group>
          )}
        </Stack>
      </form>
    </Modal>
  )
}

/** Stands in place of the buttons, with the focus on the one that loses nothing. */
function Discard({ onKeep, onDiscard }: { onKeep: () => void; onDiscard: () => void }) {
  const keep = useRef<HTMLButtonElement>(null)
  useEffect(() => keep.current?.focus(), [])
  return (
    <Alert color="yellow" role="alertdialog" title="Discard what you have entered?">
      <Group justify="flex-end">
        <Button variant="default" onClick={onKeep} ref={keep}>
          Keep editing
        </Button>
        <Button color="red.9" onClick={onDiscard}>
          Discard
        </Button>
      </Group>
    </Alert>
  )
}
