import { Button, type ButtonProps, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { ALLOWED, type Right } from '../session/use-right.ts'
import { DeniedButton } from './denied-button.tsx'
import type { ProblemAt } from './field-problem.ts'
import { FormModal } from './form-modal.tsx'

interface Props extends ButtonProps {
  label: string
  'aria-label'?: string
  /** Whether the user may do it. */
  may?: Right
  /** What will happen, in a sentence. */
  question: string
  /** Inputs that belong to the question, such as a reason. A function gets what shows a problem at its field. */
  inputs?: ReactNode | ((problemAt: ProblemAt) => ReactNode)
  /** Deletes or ends something for good: the button that acts is red. */
  destroys?: boolean
  /** In place of "Cancel", where the act itself is to cancel something. */
  dismissLabel?: string
  onConfirm: () => Promise<unknown>
}

/** A button that asks before it acts, and shows why the act failed. */
export function ConfirmButton(props: Props) {
  const { label, question, inputs, destroys = false, dismissLabel, onConfirm, may = ALLOWED, ...button } = props
  const [isOpen, setOpen] = useState(false)
  const [isPending, setPending] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const open = () => {
    setError(null)
    setOpen(true)
  }
  const confirm = async () => {
    setPending(true)
    setError(null)
    try {
      await onConfirm()
      setOpen(false)
    } catch (problem) {
      setError(problem as Error)
    } finally {
      setPending(false)
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
      {isOpen && (
        <FormModal
          title={label}
          submitLabel={label}
          size="md"
          writes={[{ isPending, error }]}
          destroys={destroys}
          {...(dismissLabel === undefined ? {} : { dismissLabel })}
          onSubmit={confirm}
          onClose={() => setOpen(false)}
        >
          {(problemAt) => (
            <>
              <Text size="sm">{question}</Text>
              {typeof inputs === 'function' ? inputs(problemAt) : inputs}
            </>
          )}
        </FormModal>
      )}
    </>
  )
}
