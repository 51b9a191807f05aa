import { Button } from '@mantine/core'
import type { ListOperation } from '@slipway/client'
import type { ReactNode } from 'react'
import { useWrite } from '../api/queries.ts'
import { ALLOWED, type Right } from '../session/use-right.ts'
import { ConfirmButton } from './confirm-button.tsx'
import { DeniedButton } from './denied-button.tsx'

const COMPACT = { size: 'compact-xs', variant: 'default' } as const

/** Opens the form of a row. `name` is for screen readers: every row has this button. */
export function ChangeButton({
  name,
  label = 'Edit',
  may = ALLOWED,
  onClick,
}: {
  name: string
  label?: string | undefined
  may?: Right
  onClick: () => void
}) {
  if (!may.allowed) {
    return (
      <DeniedButton {...COMPACT} aria-label={`${label} ${name}`} because={may.because}>
        {label}
      </DeniedButton>
    )
  }
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
  may?: Right
  onConfirm: () => Promise<unknown>
}

export function DeleteButton({ name, label = 'Delete', ...rest }: DeleteProps) {
  return <ConfirmButton {...COMPACT} {...rest} destroys label={label} aria-label={`${label} ${name}`} />
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
  /** False hides the button. A right that is refused disables it. */
  mayChange: boolean | Right
  /** "Edit", or what the form is for instead. */
  changeLabel?: string
  onChange: () => void
  mayDelete: boolean | Right
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
      {mayChange !== false && (
        <ChangeButton name={name} label={texts.changeLabel} may={rightOf(mayChange)} onClick={texts.onChange} />
      )}
      {texts.children}
      {mayDelete !== false && (
        <DeleteButton
          name={name}
          may={rightOf(mayDelete)}
          question={texts.question}
          onConfirm={() => remove.mutateAsync({ params: { id } })}
        />
      )}
    </>
  )
}

const rightOf = (may: true | Right): Right => (may === true ? ALLOWED : may)
