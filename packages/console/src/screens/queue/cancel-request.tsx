import { useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { useRight } from '../../session/use-right.ts'
import { type Request, touchedBy } from './waiting.ts'

export function CancelRequest({ request, size }: { request: Request; size: 'xs' | 'compact-xs' }) {
  const right = useRight('deployments:cancel', touchedBy(request))
  const cancel = useWrite('cancelPending', 'listPending', 'getPending')
  return (
    <ConfirmButton
      may={right}
      size={size}
      variant="default"
      label="Cancel request"
      dismissLabel="Keep it"
      destroys
      question="The request leaves the queue and does not start."
      onConfirm={() => cancel.mutateAsync({ params: { id: request.id } })}
    />
  )
}
