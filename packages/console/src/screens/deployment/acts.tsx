import { Alert, Group, List, Switch, Text, Textarea } from '@mantine/core'
import { type Answer, isFinalState, isNothingToDeploy, type Schema } from '@slipway/client'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { client } from '../../api/client.ts'
import { useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { counted } from '../../components/counted.ts'
import { DeployTo } from '../../components/deploy-to.tsx'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { redeployedAddress } from '../../components/redeployed-address.ts'
import { sourceName } from '../../components/source-name.ts'
import type { RightObject } from '../../session/right-question.ts'
import { type Right, useRight } from '../../session/use-right.ts'
import { RollBack } from '../releases/roll-back.tsx'

type Deployment = Answer<'getDeployment'>
type Request = Schema<'RedeployDeployment'>

/** What can be done with a deployment in its state: cancel it, or run it again, whole or for what did not succeed. */
export function Acts({ deployment }: { deployment: Deployment }) {
  const { id, state, source_type } = deployment
  const sourceId = deployment[`${source_type}_id`]
  const isOver = isFinalState(state)
  const mayCancel = useRight('deployments:cancel', touchedBy(deployment))
  const mayRepeat = useRight('deployments:create', touchedBy(deployment))
  // The form may name another environment.
  const mayDeploy = useRight('deployments:create')
  if (!isOver) return <Cancel id={id} may={mayCancel} />
  return (
    <Group gap="xs">
      {state !== 'success' && <Redeploy id={id} may={mayRepeat} onlyFailed />}
      {state === 'success' && sourceId !== null && (
        <DeployTo kind={source_type} id={sourceId} versionsOf={id} tenantId={deployment.config.tenant_id} size="xs" />
      )}
      {sourceId !== null && (
        <RollBack
          scope={{ kind: source_type, id: sourceId, name: sourceName(deployment), deploymentId: id }}
          size="xs"
          variant="default"
        />
      )}
      <LinkButton may={mayDeploy} to="/deploy" search={{ from: id }} size="xs" variant="default">
        Deploy with changes
      </LinkButton>
      <Redeploy id={id} may={mayRepeat} onlyFailed={false} />
    </Group>
  )
}

/** What is known here. The environments of its targets are the server's to judge. */
function touchedBy(deployment: Deployment): RightObject {
  const { source_type, config } = deployment
  const source_id = deployment[`${source_type}_id`]
  return {
    kind: 'deployment',
    environment_id: config.environment_id,
    source: source_id === null ? null : { type: source_type, id: source_id },
  }
}

interface ActProps {
  id: string
  may: Right
}

function Cancel({ id, may }: ActProps) {
  const [reason, setReason] = useState('')
  const cancel = useWrite('cancelDeployment', 'getDeployment', 'listDeployments')
  return (
    <ConfirmButton
      may={may}
      size="xs"
      color="red.9"
      label="Cancel deployment"
      dismissLabel="Keep it running"
      destroys
      question="No further step starts. Commands that run are ended, and rolled back if the deployment says so."
      inputs={<Textarea label="Reason" value={reason} onChange={(event) => setReason(event.currentTarget.value)} />}
      onConfirm={() => cancel.mutateAsync({ params: { id }, body: reason === '' ? {} : { reason } })}
    />
  )
}

function Redeploy({ id, may, onlyFailed }: ActProps & { onlyFailed: boolean }) {
  const redeploy = useWrite('redeployDeployment', 'listDeployments', 'listPending')
  const navigate = useNavigate()
  const [onlyChanged, setOnlyChanged] = useState(false)
  const body: Request = { only_failed_targets: onlyFailed, ...(onlyChanged ? { only_changed: true } : {}) }
  return (
    <ConfirmButton
      may={may}
      size="xs"
      variant={onlyFailed ? 'filled' : 'default'}
      label={onlyFailed ? 'Retry failed' : 'Redeploy'}
      question={
        onlyFailed ? 'Runs again on the targets whose part is not complete.' : 'Runs again on all of its targets.'
      }
      inputs={<Outlook id={id} request={body} onOnlyChanged={setOnlyChanged} />}
      onConfirm={async () => {
        const answer = await redeploy.mutateAsync({ params: { id }, body })
        // The dialog shows it.
        if (isNothingToDeploy(answer)) throw new Error(answer.message)
        await navigate({ to: redeployedAddress(answer) })
      }}
    />
  )
}

interface OutlookProps {
  id: string
  request: Request
  onOnlyChanged: (isOn: boolean) => void
}

/** What the repetition would do, as the server plans it now. */
function Outlook({ id, request, onOnlyChanged }: OutlookProps) {
  const preview = useQuery({
    queryKey: ['redeployDeployment', 'preview', id, request],
    queryFn: () => client.call('redeployDeployment', { params: { id }, body: { ...request, dry_run: true } }),
  })
  const data = preview.data !== undefined && 'target_summary' in preview.data ? preview.data : undefined
  const unchanged = data?.unchanged_targets.length ?? 0
  const isOnlyChanged = request.only_changed === true
  return (
    <>
      {(isOnlyChanged || unchanged > 0) && (
        <Switch
          label="Only targets that change"
          description={data && `${counted(unchanged, 'target')} with the same versions and values already`}
          checked={isOnlyChanged}
          onChange={(event) => onOnlyChanged(event.currentTarget.checked)}
        />
      )}
      {preview.error ? <ErrorAlert error={preview.error} /> : <PlanSummary preview={data} />}
    </>
  )
}

function PlanSummary({ preview }: { preview: Answer<'previewDeployment'> | undefined }) {
  if (preview === undefined) return <Text size="sm">Planning…</Text>
  const { plan, target_summary, warnings, source_name, source_version } = preview
  return (
    <>
      <Text size="sm">
        {source_name} {source_version}: {counted(plan.steps.length, 'step')} on{' '}
        {counted(target_summary.total, 'target')}, {target_summary.online} online.
      </Text>
      {warnings.length > 0 && (
        <Alert color="orange" title="Warnings">
          <List size="sm">
            {warnings.map((warning) => (
              <List.Item key={warning}>{warning}</List.Item>
            ))}
          </List>
        </Alert>
      )}
    </>
  )
}
