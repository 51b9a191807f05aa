import { Button } from '@mantine/core'
import { useSession } from '../session/session.tsx'
import { ConfirmButton } from './confirm-button.tsx'

const COMPACT = { size: 'compact-xs', variant: 'default' } as const

/** Opens the form of a row. `name` is for screen readers: every row has this button. */
export function ChangeButton({
  name,
  label = 'Change',
  onClick,
}: {
  name: string
  label?: string
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

interface RecordProps {
  /** As permissions name it, such as "tenants". */
  resource: string
  name: string
  question: string
  onChange: () => void
  onDelete: () => Promise<unknown>
}

/** Changes and deletes a record, for users who may. */
export function RecordButtons({ resource, name, question, onChange, onDelete }: RecordProps) {
  const { can } = useSession()
  return (
    <>
      {can(`${resource}:update`) && <ChangeButton name={name} onClick={onChange} />}
      {can(`${resource}:delete`) && <DeleteButton name={name} question={question} onConfirm={onDelete} />}
    </>
  )
}
