import { Alert, Group, Tabs, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { Steps } from '../../components/deployment-table.tsx'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { sourceName } from '../../components/source-name.ts'
import { StateBadge } from '../../components/state-badge.tsx'
import type { Search } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { Acts } from './acts.tsx'
import { Configuration } from './configuration.tsx'
import { Failures } from './failures.tsx'
import type { Step } from './grid-rows.ts'
import { choicesOf, logsCommand } from './log-filters.tsx'
import { LogView } from './log-view.tsx'
import { Replaced } from './replaced.tsx'
import { StepGrid } from './step-grid.tsx'
import { Timeline } from './timeline.tsx'
import { Trail } from './trail.tsx'
import { useFollowedDeployment } from './use-followed-deployment.ts'

type Record = Answer<'getDeployment'>

export function Deployment() {
  const { id = '' } = useParams({ strict: false })
  return <Followed key={id} id={id} />
}

function Followed({ id }: { id: string }) {
  const { detail, log, steps, progress, error, isOver } = useFollowedDeployment(id)
  const search: Search = useSearch({ strict: false })
  const navigate = useNavigate()
  const { can } = useSession()
  const tab = search['tab'] ?? (search['line'] === undefined ? 'steps' : 'log')
  const show = (next: string | null) =>
    void navigate({ to: `/deployments/${id}`, search: { ...search, tab: next ?? undefined } })
  const showLog = ({ target_id, action_id }: Step) =>
    void navigate({ to: `/deployments/${id}`, search: { tab: 'log', target: target_id, step: action_id } })
  const choices = useMemo(() => choicesOf(detail.data?.plan), [detail.data])
  return (
    <Page
      title={detail.data ? sourceName(detail.data) : 'Deployment'}
      command={tab === 'changes' ? `slipway changes ${id}` : logsCommand(id, search)}
      actions={detail.data && <Acts deployment={detail.data} />}
    >
      {error && !detail.error && <ErrorAlert error={error} />}
      <Loaded read={detail}>
        {(deployment) => (
          <>
            <Summary deployment={deployment} progress={progress} />
            <Tabs value={tab} onChange={show} keepMounted={false}>
              <Tabs.List mb="sm">
                <Tabs.Tab value="steps">Steps</Tabs.Tab>
                <Tabs.Tab value="log">Log</Tabs.Tab>
                <Tabs.Tab value="changes">Changes</Tabs.Tab>
                <Tabs.Tab value="failures">Failures</Tabs.Tab>
                <Tabs.Tab value="configuration">Configuration</Tabs.Tab>
                {can('audit:read') && <Tabs.Tab value="audit">Audit</Tabs.Tab>}
              </Tabs.List>
              <Tabs.Panel value="steps">
                {deployment.plan ? (
                  <StepGrid plan={deployment.plan} live={steps} onShowLog={showLog} />
                ) : (
                  <Empty title="There is no plan yet" />
                )}
              </Tabs.Panel>
              <Tabs.Panel value="log">
                <LogView id={id} log={log} isOver={isOver} choices={choices} />
              </Tabs.Panel>
              <Tabs.Panel value="changes">
                <Replaced deployment={deployment} />
              </Tabs.Panel>
              <Tabs.Panel value="failures">
                <Failures id={id} />
              </Tabs.Panel>
              <Tabs.Panel value="configuration">
                <Configuration deployment={deployment} />
              </Tabs.Panel>
              <Tabs.Panel value="audit">
                <Trail id={id} />
              </Tabs.Panel>
            </Tabs>
          </>
        )}
      </Loaded>
    </Page>
  )
}

interface SummaryProps {
  deployment: Record
  /** What the live stream told last, while the deployment runs. */
  progress: { completed: number; total: number } | null
}

function Summary({ deployment, progress }: SummaryProps) {
  const counts = progress
    ? { ...deployment, completed_steps: progress.completed, total_steps: progress.total }
    : deployment
  const where = [deployment.tenant_name, deployment.environment_name].filter(Boolean).join(' / ')
  return (
    <>
      <Group gap="lg">
        <StateBadge state={deployment.state} />
        <div style={{ width: 240 }}>
          <Steps deployment={counts} />
        </div>
        {where !== '' && <Text size="sm">{where}</Text>}
      </Group>
      <Timeline deployment={deployment} />
      {deployment.error_message && (
        <Alert color="red" title="Why it did not succeed">
          {deployment.error_message}
        </Alert>
      )}
    </>
  )
}
