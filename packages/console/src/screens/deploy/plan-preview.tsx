import { Alert, Anchor, List, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { withLocalTimes } from '../../components/local-times.ts'
import { Page } from '../../components/page.tsx'
import { useSession } from '../../session/session.tsx'
import { Replacements } from '../releases/replacements.tsx'
import { Blockers } from './blockers.tsx'
import { NothingToDeploy, OnlyChanged, unchangedTargets } from './only-changed.tsx'
import { PlanSteps } from './plan-steps.tsx'
import type { Previewed } from './previewed.ts'
import { ResolvedVariables } from './resolved-variables.tsx'
import { StartDeployment } from './start-deployment.tsx'
import { strategyOf } from './strategy-text.ts'
import { summary } from './target-count.tsx'

interface Props {
  previewed: Previewed
  onPreviewed: (previewed: Previewed) => void
  onBack: () => void
}

/** Step 2: the plan, and what it replaces. Only from here a deployment starts. */
export function PlanPreview({ previewed, onPreviewed, onBack }: Props) {
  const { plan, blockers, target_summary, source_type, source_name, source_version, variables, replaces } =
    previewed.plan
  // The blockers stand above, with their ends and links.
  const told = new Set(blockers.map(({ message }) => message))
  const warnings = previewed.plan.warnings.filter((warning) => !told.has(warning))
  const again = useWrite('previewDeployment')
  const preview = (onlyChanged: boolean) => {
    const { only_changed: _, ...rest } = previewed.request
    const request = onlyChanged ? { ...rest, only_changed: true } : rest
    again.mutate({ body: request }, { onSuccess: (next) => onPreviewed({ ...previewed, request, plan: next }) })
  }
  const isOnlyChanged = previewed.request.only_changed === true
  const unchanged = unchangedTargets(again.error)
  return (
    <Page
      title={`Preview: ${source_name} ${source_version}`}
      command={`${previewed.command}${isOnlyChanged ? ' --only-changed' : ''} --expect-plan ${previewed.plan.plan_hash}`}
    >
      <Stack gap="xs">
        <Text>
          The {source_type} {source_name} in version {source_version} runs on {summary(target_summary)}
          {plan.environment_name === null ? '' : `, environment ${plan.environment_name}`}
          {plan.tenant_name === null ? '' : `, tenant ${plan.tenant_name}`}. Nothing has started yet.
        </Text>
        <Text size="sm">{strategyOf(previewed.request)}</Text>
        <QueuePlace priority={previewed.request.priority ?? 0} />
        <Blockers previewed={previewed} />
        {warnings.length > 0 && (
          <Alert color="yellow" title={warnings.length === 1 ? 'Warning' : `${warnings.length} warnings`} role="status">
            <List size="sm">
              {warnings.map((warning) => (
                <List.Item key={warning}>{withLocalTimes(warning)}</List.Item>
              ))}
            </List>
          </Alert>
        )}
        <OnlyChanged previewed={previewed} busy={again.isPending} onChange={preview} />
        {unchanged !== null && (
          <NothingToDeploy count={unchanged.length} busy={again.isPending} onPreviewAll={() => preview(false)} />
        )}
        {again.error && unchanged === null && <ErrorAlert error={again.error} />}
      </Stack>
      <StartDeployment
        key={`${previewed.plan.plan_hash} ${isOnlyChanged}`}
        previewed={previewed}
        isPreviewing={again.isPending}
        onPreview={preview}
        onBack={onBack}
      />
      {replaces.length > 0 && (
        <Stack gap="xs">
          <Title order={2} size="h4">
            What it replaces
          </Title>
          <Replacements replaces={replaces} version={source_version} />
        </Stack>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
        <Stack gap="xs">
          <Title order={2} size="h4">
            Steps by target
          </Title>
          <PlanSteps steps={plan.steps} targetCount={plan.target_count} />
        </Stack>
        <Stack gap="xs">
          <Title order={2} size="h4">
            Variables
          </Title>
          <ResolvedVariables variables={variables} />
        </Stack>
      </SimpleGrid>
    </Page>
  )
}

/** Where in the queue a request with this priority would stand now. The warnings say whether it would be queued at all. */
function QueuePlace({ priority }: { priority: number }) {
  const { can } = useSession()
  useLive('listPending')
  const pending = useRead('listPending', { query: { status: 'pending' } }, { enabled: can('deployments:read') })
  if (pending.data === undefined) return null
  const before = pending.data.filter((request) => request.position !== undefined && request.priority >= priority).length
  if (before === 0) return <Text size="sm">No request in the queue comes before it.</Text>
  return (
    <Text size="sm">
      {before === 1 ? '1 request' : `${before.toLocaleString()} requests`} in the{' '}
      <Anchor component={Link} to="/queue" size="sm">
        queue
      </Anchor>{' '}
      would come before it: its place would be about {(before + 1).toLocaleString()}.
    </Text>
  )
}
