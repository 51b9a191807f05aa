import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { ErrorAlert } from './error-alert.tsx'

interface Props extends ButtonProps {
  label: string
  /** What will happen, in a sentence. */
  question: string
  /** Inputs that belong to the question, such as a reason. */
  inputs?: ReactNode
  onConfirm: () => Promise<unknown>
}

/** A button that asks before it acts, and shows why the act failed. */
export function ConfirmButton({ label, question, inputs, onConfirm, ...button }: Props) {
  const [isOpen, setOpen] = useState(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const confirm = async () => {
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
      <Button {...button} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={label}>
        <Stack>
          <Text size="sm">{question}</Text>
          {inputs}
          {error && <ErrorAlert error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setOpen(false)}>
              Back
            </Button>
            <Button color="red.9" loading={busy} onClick={confirm}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
