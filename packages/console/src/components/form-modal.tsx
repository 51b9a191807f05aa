import { Button, Group, Modal, type ModalProps, Stack, Text } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { ALLOWED, type Right } from '../session/use-right.ts'
import { DeniedButton } from './denied-button.tsx'
import { ErrorAlert } from './error-alert.tsx'

interface Props extends Pick<ModalProps, 'size'> {
  title: string
  submitLabel: string
  /** The writes of this form: while one runs the form is busy, and the first error is shown. */
  writes: readonly { isPending: boolean; error: Error | null }[]
  /** Whether the user may do what the form says now. */
  may?: Right
  onSubmit: () => unknown
  onClose: () => void
  children: ReactNode
}

/** A form in a dialog. The server's error stands above the buttons. */
export function FormModal({ title, submitLabel, writes, onSubmit, onClose, children, size = 'lg', ...given }: Props) {
  const { may = ALLOWED } = given
  const busy = writes.some(({ isPending }) => isPending)
  const error = writes.find((write) => write.error !== null)?.error
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // React passes events through portals: without this, a form around the dialog would be submitted too.
    event.stopPropagation()
    if (!busy && may.allowed) onSubmit()
  }
  return (
    <Modal opened onClose={onClose} title={title} size={size}>
      <form onSubmit={submit}>
        <Stack>
          {children}
          {error && <ErrorAlert error={error} />}
          {may.because !== null && (
            <Text size="sm" role="status">
              {may.because}.
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            {may.allowed ? (
              <Button type="submit" loading={busy}>
                {submitLabel}
              </Button>
            ) : (
              <DeniedButton because={may.because}>{submitLabel}</DeniedButton>
            )}
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
