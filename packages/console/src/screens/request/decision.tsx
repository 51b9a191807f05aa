import { Alert, Group, Stack, Text, Textarea } from '@mantine/core'
import { type Answer, ConflictError } from '@slipway/client'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { readAgain, useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { useSession } from '../../session/session.tsx'
import { type Right, useRight } from '../../session/use-right.ts'
import { touchedBy } from '../queue/waiting.ts'
import { approvalStand } from './approval-stand.ts'

interface Props {
  /** The request as it is shown: its plan is what the user approves. */
  request: Answer<'getPending'>
}

/** Approve and Reject, or why the user may not. */
export function Decision({ request }: Props) {
  const { user } = useSession()
  const right = useRight('deployments:approve', touchedBy(request))
  const stand = approvalStand(request, { ...user, right })
  const [outdated, setOutdated] = useState<ConflictError | null>(null)
  if (stand === null) return null
  return (
    <Stack gap="xs">
      {outdated !== null && <Outdated error={outdated} />}
      {stand.why !== null && <Text size="sm">{stand.why}</Text>}
      {/* Nothing that a user has begun goes on with another plan. */}
      <Group gap="xs" key={request.plan_hash}>
        <Approve request={request} may={{ allowed: stand.mayApprove, because: stand.why }} onOutdated={setOutdated} />
        <Reject id={request.id} may={{ allowed: stand.mayReject, because: stand.why }} />
      </Group>
    </Stack>
  )
}

/** Why nothing was approved. The page has been read again. */
function Outdated({ error: { details, message } }: { error: ConflictError }) {
  const isOfPlan = 'plan_hash' in details
  return (
    <Alert
      color="orange"
      title={`${isOfPlan ? 'The plan is another one' : 'The request has changed'}. Nothing was approved.`}
      role="alert"
    >
      {isOfPlan ? 'The page shows the plan that would run now. Look at it before you approve it.' : message}
    </Alert>
  )
}

interface ApproveProps extends Props {
  may: Right
  onOutdated: (error: ConflictError | null) => void
}

function Approve({ request, may, onOutdated }: ApproveProps) {
  const { id, plan_hash, source_name, source_version } = request
  const [comment, setComment] = useState('')
  const queries = useQueryClient()
  const approve = useWrite('approvePending', 'getPending', 'listPending')
  const body = { ...(plan_hash === undefined ? {} : { plan_hash }), ...given(comment) }
  return (
    <ConfirmButton
      may={may}
      label="Approve"
      question={`You approve ${source_name} ${source_version} with the plan that this page shows.`}
      inputs={<Comment value={comment} onChange={setComment} />}
      onConfirm={async () => {
        onOutdated(null)
        try {
          await approve.mutateAsync({ params: { id }, body })
        } catch (error) {
          if (!(error instanceof ConflictError)) throw error
          onOutdated(error)
          await readAgain(queries, ['getPending', 'listPending'])
        }
      }}
    />
  )
}

function Reject({ id, may }: { id: string; may: Right }) {
  const [comment, setComment] = useState('')
  const reject = useWrite('rejectPending', 'getPending', 'listPending')
  return (
    <ConfirmButton
      may={may}
      label="Reject"
      destroys
      variant="default"
      question="The request ends as cancelled and does not start. Its author sees your comment."
      inputs={<Comment value={comment} onChange={setComment} />}
      onConfirm={() => reject.mutateAsync({ params: { id }, body: given(comment) })}
    />
  )
}

const given = (comment: string) => (comment.trim() === '' ? {} : { comment: comment.trim() })

function Comment({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  return (
    <Textarea
      label="Comment"
      description="For people; the audit log keeps it"
      maxLength={10_000}
      autosize
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
