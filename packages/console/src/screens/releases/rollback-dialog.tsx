import { Alert, List, Radio, Stack, Text, TextInput } from '@mantine/core'
import { type Answer, isNothingToDeploy, type Schema } from '@slipway/client'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { client } from '../../api/client.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { BlockerList } from '../../components/blocker-list.tsx'
import { counted } from '../../components/counted.ts'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { FormModal } from '../../components/form-modal.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { withLocalTimes } from '../../components/local-times.ts'
import { newKey } from '../../components/new-key.ts'
import { redeployedAddress } from '../../components/redeployed-address.ts'
import { neededOverrides, overridesOf, refusingOf } from '../../components/refusing.ts'
import type { Kind } from '../../components/source-kinds.ts'
import { TargetNames } from '../../components/target-names.tsx'
import { ALLOWED, type Right } from '../../session/use-right.ts'
import { Replacements } from './replacements.tsx'

/** What is rolled back: a source, everywhere or in one place, or on the targets of one deployment. */
export interface RollbackScope {
  kind: Kind
  id: string
  /** For the title. */
  name: string
  environmentId?: string | null
  tenantId?: string | null
  deploymentId?: string
}

type Group = Answer<'getRollback'>['groups'][number]
type Preview = Answer<'previewDeployment'>

interface Props {
  scope: RollbackScope
  onClose: () => void
}

/** Shows the release before the present one and what would happen, and repeats it exactly so. */
export function RollbackDialog({ scope, onClose }: Props) {
  const { kind, id, name, environmentId, tenantId, deploymentId } = scope
  const rollback = useRead('getRollback', {
    query: {
      [`${kind}_id`]: id,
      ...(environmentId ? { environment_id: environmentId } : {}),
      ...(tenantId ? { tenant_id: tenantId } : {}),
      ...(deploymentId === undefined ? {} : { deployment_id: deploymentId }),
    },
  })
  const groups = rollback.data?.groups.filter((group) => group.deployment_id !== null) ?? []
  const [chosen, setChosen] = useState<string | null>(null)
  const group = groups.find((one) => one.deployment_id === chosen) ?? groups[0]
  const preview = useDryRun(group)
  const [reason, setReason] = useState('')
  const redeploy = useWrite('redeployDeployment', 'listDeployments', 'listPending')
  const navigate = useNavigate()
  const planHash = preview.data?.plan_hash
  // One key for every attempt at this plan: if an answer is lost, the next attempt returns what already exists.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another plan is another attempt
  const idempotencyKey = useMemo(newKey, [planHash])

  const blockers = preview.data?.blockers ?? []
  const needed = neededOverrides(refusingOf(blockers, {}, Date.now()))
  const mayPass = needed.every((one) => overridesOf(blockers).includes(one))
  const submit = () => {
    if (group?.deployment_id == null || preview.data === undefined) return
    const body: Schema<'RedeployDeployment'> = {
      target_ids: idsOf(group),
      expected_plan_hash: preview.data.plan_hash,
      ...(needed.includes('freeze') ? { override_freeze: true } : {}),
      ...(needed.includes('rules') ? { override_rules: true } : {}),
      ...(needed.length > 0 ? { override_reason: reason.trim() } : {}),
    }
    redeploy.mutate(
      { params: { id: group.deployment_id }, body, idempotencyKey },
      { onSuccess: (answer) => isNothingToDeploy(answer) || void navigate({ to: redeployedAddress(answer) }) },
    )
  }
  return (
    <FormModal
      title={`Roll back ${name}`}
      submitLabel={group?.version == null ? 'Roll back' : `Roll back to ${group.version}`}
      writes={[redeploy]}
      may={mayStart({
        isKnown: preview.data !== undefined,
        isRunning: isRunning(rollback.data),
        mayPass,
        isReasoned: needed.length === 0 || reason.trim() !== '',
      })}
      onSubmit={submit}
      onClose={onClose}
    >
      <Loaded read={rollback}>
        {(data) => (
          <Stack gap="sm">
            <Running running={data.running} />
            {groups.length > 1 && (
              <Radio.Group
                label="The targets had different releases before"
                value={group?.deployment_id ?? ''}
                onChange={setChosen}
              >
                <Stack gap={4} mt={4}>
                  {groups.map((one) => (
                    <Radio key={one.deployment_id} value={one.deployment_id ?? ''} label={<GroupLabel group={one} />} />
                  ))}
                </Stack>
              </Radio.Group>
            )}
            {data.groups
              .filter((one) => one.deployment_id === null)
              .map((one) => (
                <Text size="sm" key="none">
                  No release before the present one differs on <Targets group={one} />.
                </Text>
              ))}
            {data.groups.length === 0 && <Text size="sm">It is on no target: there is nothing to roll back.</Text>}
          </Stack>
        )}
      </Loaded>
      {preview.error && <ErrorAlert error={preview.error} />}
      {group !== undefined && preview.isFetching && <Text size="sm">Planning…</Text>}
      {preview.data && <Outlook preview={preview.data} />}
      {needed.length > 0 && mayPass && (
        <TextInput
          label="Reason for the override"
          description="The audit log keeps it"
          required
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
      )}
    </FormModal>
  )
}

const idsOf = ({ targets }: Group) => targets.map(({ id }) => id)

const isRunning = (data: Answer<'getRollback'> | undefined) => data !== undefined && data.running.length > 0

interface Stand {
  isKnown: boolean
  isRunning: boolean
  mayPass: boolean
  isReasoned: boolean
}

function mayStart({ isKnown, isRunning: runs, mayPass, isReasoned }: Stand): Right {
  const because = runs
    ? 'A deployment runs on these targets: wait for its end, or cancel it'
    : !isKnown
      ? 'There is no plan yet'
      : !mayPass
        ? 'It would be refused, and only an administrator can override that'
        : isReasoned
          ? null
          : 'Give a reason for the override'
  return because === null ? ALLOWED : { allowed: false, because }
}

/** The plan of the rollback, as the server makes it now. */
function useDryRun(group: Group | undefined) {
  const id = group?.deployment_id ?? null
  const body = { target_ids: group === undefined ? [] : idsOf(group), dry_run: true }
  return useQuery({
    queryKey: ['redeployDeployment', 'preview', id, body],
    queryFn: async () => {
      const answer = await client.call('redeployDeployment', { params: { id: id ?? '' }, body })
      return 'target_summary' in answer ? answer : null
    },
    enabled: id !== null,
    refetchOnWindowFocus: false,
    select: (preview): Preview | undefined => preview ?? undefined,
  })
}

function Running({ running }: { running: Answer<'getRollback'>['running'] }) {
  const [first] = running
  if (first === undefined) return null
  return (
    <Alert color="orange" title="A deployment of it runs" role="status">
      On {first.target_name}
      {running.length > 1 && ` and ${counted(running.length - 1, 'more target')}`}.
    </Alert>
  )
}

const MAX_NAMED = 5

function Targets({ group }: { group: Group }) {
  return <TargetNames targets={group.targets.slice(0, MAX_NAMED)} count={group.targets.length} />
}

function GroupLabel({ group }: { group: Group }) {
  return (
    <>
      {group.version ?? 'An older deployment'} on <Targets group={group} />
    </>
  )
}

function Outlook({ preview }: { preview: Preview }) {
  const { plan, target_summary, warnings, blockers, replaces, source_version } = preview
  const told = new Set(blockers.map(({ message }) => message))
  const others = warnings.filter((warning) => !told.has(warning))
  return (
    <Stack gap="sm">
      <Text size="sm">
        {counted(plan.steps.length, 'step')} on {counted(target_summary.total, 'target')}, {target_summary.online}{' '}
        online. Nothing has started yet.
      </Text>
      {blockers.length > 0 && (
        <Alert color="orange" title="What keeps it from starting now" role="status">
          <BlockerList blockers={blockers} />
        </Alert>
      )}
      {others.length > 0 && (
        <Alert color="yellow" title="Warnings" role="status">
          <List size="sm">
            {others.map((warning) => (
              <List.Item key={warning}>{withLocalTimes(warning)}</List.Item>
            ))}
          </List>
        </Alert>
      )}
      <Replacements replaces={replaces} version={source_version} />
    </Stack>
  )
}
