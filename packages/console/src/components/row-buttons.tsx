import { Button } from '@mantine/core'
import type { ListOperation } from '@slipway/client'
import type { ReactNode } from 'react'
import { useWrite } from '../api/queries.ts'
import { ConfirmButton } from './confirm-button.tsx'

const COMPACT = { size: 'compact-xs', variant: 'default' } as const

/** Opens the form of a row. `name` is for screen readers: every row has this button. */
export function ChangeButton({
  name,
  label = 'Change',
  onClick,
}: {
  name: string
  label?: string | undefined
  onClick: () => void
}) {
  return (
    <Button {...COMPACT} aria-label={`${label} ${name}`} onClick={onClick}>
      {label}
    </Button>
  )
}

interface DeleteProps {
  name: string
  label?: string
  question: string
  onConfirm: () => Promise<unknown>
}

export function DeleteButton({ name, label = 'Delete', question, onConfirm }: DeleteProps) {
  return (
    <ConfirmButton
      {...COMPACT}
      label={label}
      aria-label={`${label} ${name}`}
      question={question}
      onConfirm={onConfirm}
    />
  )
}

/** Operations that delete the record with the id in their path. */
type DeleteOperation =
  | 'deleteEnvironment'
  | 'deleteFreeze'
  | 'deleteRole'
  | 'deleteTenant'
  | 'deleteUser'
  | 'deleteWebhook'

interface RecordProps {
  id: string
  /** For screen readers: every row has these buttons. */
  name: string
  mayChange: boolean
  /** "Change", or what the form is for instead. */
  changeLabel?: string
  onChange: () => void
  mayDelete: boolean
  question: string
  /** The operation that deletes the record, and the list to read again. */
  deletion: [DeleteOperation, ListOperation]
  children?: ReactNode
}

/** Changes and deletes a record, for users who may. */
export function RecordButtons({ id, name, mayChange, mayDelete, deletion, ...texts }: RecordProps) {
  const remove = useWrite<DeleteOperation>(...deletion)
  return (
    <>
      {mayChange && <ChangeButton name={name} label={texts.changeLabel} onClick={texts.onChange} />}
      {texts.children}
      {mayDelete && (
        <DeleteButton name={name} question={texts.question} onConfirm={() => remove.mutateAsync({ params: { id } })} />
      )}
    </>
  )
}
