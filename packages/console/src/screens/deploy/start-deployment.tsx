import { Button, Group, Stack } from '@mantine/core'
import { type Answer, ConflictError, FrozenError, isNothingToDeploy } from '@slipway/client'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { FrozenAlert } from './frozen-alert.tsx'
import { NothingToDeploy } from './only-changed.tsx'
import { differencesOf, PlanChanged } from './plan-changed.tsx'
import type { Previewed } from './previewed.ts'

interface Props {
  previewed: Previewed
  isPreviewing: boolean
  /** Previews again, for all targets or only for those that change. */
  onPreview: (onlyChanged: boolean) => void
  onBack: () => void
}

/** Starts exactly the plan of the preview. The server refuses the request if the plan has changed. */
export function StartDeployment({ previewed, isPreviewing, onPreview, onBack }: Props) {
  const { request, plan } = previewed
  const navigate = useNavigate()
  // One key for every attempt: if an answer is lost, the next attempt returns the deployment that already exists.
  const [idempotencyKey] = useState(newKey)
  const create = useWrite('createDeployment', 'listDeployments', 'listPending')

  const start = (overrideReason?: string) => {
    const override = overrideReason === undefined ? {} : { override_freeze: true, override_reason: overrideReason }
    create.mutate(
      { body: { ...request, expected_plan_hash: plan.plan_hash, ...override }, idempotencyKey },
      {
        onSuccess: (answer) => {
          if (!isNothingToDeploy(answer)) void navigate({ to: addressOf(answer) })
        },
      },
    )
  }
  const { error } = create
  const differences = error instanceof ConflictError ? differencesOf(error) : []
  const isChanged = differences.length > 0
  const nothing = create.data !== undefined && isNothingToDeploy(create.data) ? create.data : null
  const unchanged = nothing?.unchanged_target_ids ?? null
  const isToldElsewhere = isChanged || error instanceof FrozenError
  return (
    <Stack gap="sm">
      {error instanceof FrozenError && <FrozenAlert error={error} busy={create.isPending} onOverride={start} />}
      {isChanged && (
        <PlanChanged
          differences={differences}
          busy={isPreviewing}
          onPreview={() => onPreview(request.only_changed === true)}
        />
      )}
      {unchanged !== null && (
        <NothingToDeploy count={unchanged.length} busy={isPreviewing} onPreviewAll={() => onPreview(false)} />
      )}
      {error && !isToldElsewhere && <ErrorAlert error={error} />}
      <Group>
        <Button variant="default" onClick={onBack}>
          Back to the form
        </Button>
        {!isChanged && unchanged === null && (
          <Button loading={create.isPending} disabled={isPreviewing} onClick={() => start()}>
            Start
          </Button>
        )}
      </Group>
    </Stack>
  )
}

function addressOf(answer: Answer<'createDeployment'>): string {
  return 'deployment_id' in answer ? `/deployments/${answer.deployment_id}` : '/queue'
}

/** `crypto.randomUUID` does not exist on pages without HTTPS. */
const newKey = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
