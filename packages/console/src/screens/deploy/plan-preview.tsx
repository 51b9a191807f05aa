import { Alert, Anchor, List, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { counted } from '../../components/counted.ts'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { withLocalTimes } from '../../components/local-times.ts'
import { Page } from '../../components/page.tsx'
import { Replacements } from '../releases/replacements.tsx'
import { Blockers } from './blockers.tsx'
import { FilledFrom } from './deploy-form.tsx'
import { OnlyChanged } from './only-changed.tsx'
import { PlanSteps } from './plan-steps.tsx'
import type { Previewed } from './previewed.ts'
import { ResolvedVariables } from './resolved-variables.tsx'
import { StartDeployment } from './start-deployment.tsx'
import { strategyOf } from './strategy-text.ts'
import { inEnvironments, summary } from './target-count.tsx'

interface Props {
  previewed: Previewed
  /** The deployment that filled the form. */
  last: Answer<'getDeployment'> | null
  isPreviewing: boolean
  /** Why the last try to preview again failed. */
  error: Error | null
  onPreview: () => void
  onOnlyChanged: (isOn: boolean) => void
  onBack: () => void
}

/** Step 2: the plan, and what it replaces. Only from here a deployment starts. */
export function PlanPreview({ previewed, last, isPreviewing, error, onPreview, onOnlyChanged, onBack }: Props) {
  const { request, plan: preview, command } = previewed
  const { plan, blockers, target_summary, source_type, source_name, source_version, variables, replaces } = preview
  // The blockers stand above, with their ends and links.
  const told = new Set(blockers.map(({ message }) => message))
  const warnings = preview.warnings.filter((warning) => !told.has(warning))
  return (
    <Page title={`Preview: ${source_name} ${source_version}`} command={`${command} --expect-plan ${preview.plan_hash}`}>
      <Stack gap="xs">
        {isAllUnchanged(previewed) && (
          <Alert color="blue" title={`${allOf(target_summary.total)} ${source_version}`} role="status">
            With the same versions and values. Starting would run it again.
          </Alert>
        )}
        <SeveralEnvironments environments={target_summary.environments} />
        <Text>
          The {source_type} {source_name} in version {source_version} runs on {summary(target_summary)}
          {plan.environment_name === null ? '' : `, environment ${plan.environment_name}`}
          {plan.tenant_name === null ? '' : `, tenant ${plan.tenant_name}`}. Nothing has started yet.
        </Text>
        {last !== null && <FilledFrom deployment={last} />}
        <Text size="sm">{strategyOf(request)}</Text>
        <QueuePlace {...preview.queue} />
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
        {!isAllUnchanged(previewed) && (
          <OnlyChanged previewed={previewed} busy={isPreviewing} onChange={onOnlyChanged} />
        )}
        {error && <ErrorAlert error={error} />}
      </Stack>
      <StartDeployment
        key={`${preview.plan_hash} ${request.only_changed}`}
        previewed={previewed}
        isPreviewing={isPreviewing}
        isRepetition={isAllUnchanged(previewed)}
        onPreview={onPreview}
        onOnlyChanged={onOnlyChanged}
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

/** With `only_changed`, the unchanged targets are not among the selected ones. */
const isAllUnchanged = ({ request, plan: { unchanged_targets, target_summary } }: Previewed) =>
  request.only_changed !== true && unchanged_targets.length > 0 && unchanged_targets.length === target_summary.total

const allOf = (total: number) =>
  total === 1 ? 'The target already has' : `All ${counted(total, 'target')} already have`

/** The waiting requests that compete with it for the same targets or slots. */
function QueuePlace({ ahead }: Previewed['plan']['queue']) {
  if (ahead === 0) return <Text size="sm">No request in the queue comes before it.</Text>
  return (
    <Text size="sm">
      {counted(ahead, 'request')} in the{' '}
      <Anchor component={Link} to="/queue" size="sm">
        queue
      </Anchor>{' '}
      for the same targets or slots {ahead === 1 ? 'comes' : 'come'} before it.
    </Text>
  )
}

/** Targets of several environments at once are rarely meant. */
function SeveralEnvironments({ environments }: Pick<Previewed['plan']['target_summary'], 'environments'>) {
  if (environments.length < 2) return null
  return (
    <Alert color="red" title={inEnvironments(environments)} role="status">
      One deployment would change all of them. Choose an environment in the form if you do not mean this.
    </Alert>
  )
}
