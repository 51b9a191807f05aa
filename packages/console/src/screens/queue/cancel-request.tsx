import { useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'

export function CancelRequest({ id, size }: { id: string; size: 'xs' | 'compact-xs' }) {
  const cancel = useWrite('cancelPending', 'listPending', 'getPending')
  return (
    <ConfirmButton
      size={size}
      variant="default"
      label="Cancel request"
      question="The request leaves the queue and does not start."
      onConfirm={() => cancel.mutateAsync({ params: { id } })}
    />
  )
}
