import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { ALLOWED, type Right } from '../session/use-right.ts'
import { DeniedButton } from './denied-button.tsx'
import { ErrorAlert } from './error-alert.tsx'

interface Props extends ButtonProps {
  label: string
  'aria-label'?: string
  /** Whether the user may do it. */
  may?: Right
  /** What will happen, in a sentence. */
  question: string
  /** Inputs that belong to the question, such as a reason. */
  inputs?: ReactNode
  /** Deletes or ends something for good: the button that acts is red. */
  destroys?: boolean
  /** In place of "Cancel", where the act itself is to cancel something. */
  dismissLabel?: string
  onConfirm: () => Promise<unknown>
}

/** A button that asks before it acts, and shows why the act failed. */
export function ConfirmButton({
  label,
  question,
  inputs,
  destroys = false,
  dismissLabel = 'Cancel',
  onConfirm,
  may = ALLOWED,
  ...button
}: Props) {
  const [isOpen, setOpen] = useState(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const open = () => {
    setError(null)
    setOpen(true)
  }
  const confirm = async (event: FormEvent) => {
    event.preventDefault()
    // React passes events through portals: without this, a form around the dialog would be submitted too.
    event.stopPropagation()
    setBusy(true)
    setError(null)
    try {
      await onConfirm()
      setOpen(false)
    } catch (problem) {
      setError(problem as Error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      {may.allowed ? (
        <Button {...button} onClick={open}>
          {label}
        </Button>
      ) : (
        <DeniedButton {...button} because={may.because}>
          {label}
        </DeniedButton>
      )}
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={label}>
        <form onSubmit={confirm}>
          <Stack>
            <Text size="sm">{question}</Text>
            {inputs}
            {error && <ErrorAlert error={error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={() => setOpen(false)}>
                {dismissLabel}
              </Button>
              <Button type="submit" loading={busy} {...(destroys ? { color: 'red.9' } : {})}>
                {label}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  )
}
