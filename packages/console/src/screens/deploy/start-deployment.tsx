import { Button, Group, Stack, Text } from '@mantine/core'
import { type Answer, ConflictError, isNothingToDeploy } from '@slipway/client'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { newKey } from '../../components/new-key.ts'
import { neededOverrides, type Override, overridesOf, refusingOf, startLabel } from '../../components/refusing.ts'
import { NothingToDeploy } from './only-changed.tsx'
import { type OverrideFields, OverrideForm } from './override.tsx'
import { differencesOf, PlanChanged } from './plan-changed.tsx'
import type { Previewed } from './previewed.ts'

interface Props {
  previewed: Previewed
  isPreviewing: boolean
  /** Whether all targets have these versions and values already. */
  isRepetition: boolean
  /** Previews again. */
  onPreview: () => void
  onOnlyChanged: (isOn: boolean) => void
  onBack: () => void
}

/** Starts exactly the plan of the preview. The server refuses the request if the plan has changed. */
export function StartDeployment({ previewed, isPreviewing, isRepetition, onPreview, onOnlyChanged, onBack }: Props) {
  const { request, plan } = previewed
  const navigate = useNavigate()
  // One key for every attempt: if an answer is lost, the next attempt returns the deployment that already exists.
  const [idempotencyKey] = useState(newKey)
  const create = useWrite('createDeployment', 'listDeployments', 'listPending')

  const { blockers } = plan
  const needed = neededOverrides(refusingOf(blockers, request, Date.now()))
  const available = overridesOf(blockers)
  const mayPass = needed.every((one) => available.includes(one))
  const [isOverriding, setOverriding] = useState(false)

  const start = (override: OverrideFields = {}) => {
    create.mutate(
      { body: { ...request, expected_plan_hash: plan.plan_hash, ...override }, idempotencyKey },
      {
        onSuccess: (answer) => {
          if (!isNothingToDeploy(answer)) void navigate({ to: addressOf(answer) })
        },
      },
    )
  }
  const preview = () => {
    create.reset()
    onPreview()
  }
  const { error } = create
  const differences = error instanceof ConflictError ? differencesOf(error) : []
  const isChanged = differences.length > 0
  const nothing = create.data !== undefined && isNothingToDeploy(create.data) ? create.data : null
  const unchanged = nothing?.unchanged_target_ids ?? null
  return (
    <Stack gap="sm">
      {isChanged && <PlanChanged differences={differences} busy={isPreviewing} onPreview={preview} />}
      {unchanged !== null && (
        <NothingToDeploy count={unchanged.length} busy={isPreviewing} onPreviewAll={() => onOnlyChanged(false)} />
      )}
      {error && !isChanged && <ErrorAlert error={error} />}
      {isOverriding && !isChanged && (
        <OverrideForm available={available} needed={needed} busy={create.isPending} onOverride={start} />
      )}
      {!mayPass && (
        <Text size="sm">
          It would be refused. Only an administrator can override {needed.map((one) => NAMES[one]).join(' and ')}.
        </Text>
      )}
      <Group>
        <Button variant="default" onClick={onBack}>
          Back to the form
        </Button>
        {!isChanged && unchanged === null && (
          <>
            {needed.length === 0 && (
              <Button loading={create.isPending} disabled={isPreviewing} onClick={() => start()}>
                {isRepetition ? 'Start again' : startLabel(blockers)}
              </Button>
            )}
            {mayPass && available.length > 0 && !isOverriding && (
              <Button variant="default" disabled={isPreviewing} onClick={() => setOverriding(true)}>
                {available.length === 1 && available[0] === 'rules' ? 'Override rules…' : 'Override…'}
              </Button>
            )}
            {(error instanceof ConflictError || needed.length > 0) && (
              <Button variant="default" loading={isPreviewing} onClick={preview}>
                Preview again
              </Button>
            )}
          </>
        )}
      </Group>
    </Stack>
  )
}

const NAMES: Record<Override, string> = { freeze: 'a freeze', rules: 'the rules of an environment' }

function addressOf(answer: Answer<'createDeployment'>): string {
  if ('deployment_id' in answer) return `/deployments/${answer.deployment_id}`
  return 'pending_request_id' in answer ? `/queue/${answer.pending_request_id}` : '/queue'
}
