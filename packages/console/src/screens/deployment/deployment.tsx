import { Group, Tabs, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { Steps } from '../../components/deployment-table.tsx'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { sourceName } from '../../components/source-name.ts'
import { StateBadge } from '../../components/state-badge.tsx'
import type { Search } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { Acts } from './acts.tsx'
import { useChanges } from './changes.ts'
import { Configuration } from './configuration.tsx'
import { FailureBox } from './failure-box.tsx'
import { Failures } from './failures.tsx'
import { isFailed, type Step } from './grid-rows.ts'
import { DownloadLog } from './log-download.tsx'
import { logsCommand } from './log-filters.tsx'
import type { LogStore } from './log-store.ts'
import { LogView } from './log-view.tsx'
import { Replaced } from './replaced.tsx'
import { StepGrid } from './step-grid.tsx'
import { Timeline } from './timeline.tsx'
import { Trail } from './trail.tsx'
import { useFailures } from './use-failures.ts'
import { useFollowedDeployment } from './use-followed-deployment.ts'

type Record = Answer<'getDeployment'>

const OPENED_AT_FAILURES: ReadonlySet<string> = new Set(['failed', 'rolled_back'])

export function Deployment() {
  const { id = '' } = useParams({ strict: false })
  return <Followed key={id} id={id} />
}

function Followed({ id }: { id: string }) {
  const { detail, log, steps, progress, hasFailed, error, isOver } = useFollowedDeployment(id)
  const search: Search = useSearch({ strict: false })
  const navigate = useNavigate()
  const { can } = useSession()
  const plan = detail.data?.plan
  const planHasFailures = useMemo(() => plan?.steps.some(({ state }) => isFailed(state)) ?? false, [plan])
  const endedBadly = isOver && detail.data?.state !== 'success'
  const failures = useFailures(id, endedBadly || planHasFailures || hasFailed).data ?? []
  const changes = useRead('getDeploymentChanges', { params: { id } }).data?.replaces.length
  // The tab does not change by itself when a deployment ends that was opened while it ran.
  const opened = useRef<string | undefined>(undefined)
  if (detail.data !== undefined) opened.current ??= OPENED_AT_FAILURES.has(detail.data.state) ? 'failures' : 'steps'
  const tab = search['tab'] ?? (search['line'] === undefined ? (opened.current ?? 'steps') : 'log')
  const show = (next: string | null) =>
    void navigate({ to: `/deployments/${id}`, search: { ...search, tab: next ?? undefined } })
  const showLog = ({ target_id, action_id }: Step) =>
    void navigate({ to: `/deployments/${id}`, search: { tab: 'log', target: target_id, step: action_id } })
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
            {endedBadly && <FailureBox deployment={deployment} failures={failures} isBrief={tab === 'log'} />}
            <Tabs value={tab} onChange={show} keepMounted={false}>
              <Tabs.List mb="sm">
                <Tabs.Tab value="steps">Steps</Tabs.Tab>
                <Tabs.Tab value="failures">
                  Failures <Count of={failures.length} />
                </Tabs.Tab>
                <Tabs.Tab value="log">
                  Log <LineCount log={log} />
                </Tabs.Tab>
                <Tabs.Tab value="changes">
                  Changes <Count of={changes} />
                </Tabs.Tab>
                <Tabs.Tab value="configuration">Configuration</Tabs.Tab>
                {can('audit:read') && <Tabs.Tab value="audit">Audit</Tabs.Tab>}
              </Tabs.List>
              <Tabs.Panel value="steps">
                {deployment.plan ? (
                  <StepGrid
                    id={id}
                    plan={deployment.plan}
                    mode={deployment.config.target_mode}
                    log={log}
                    live={steps}
                    onShowLog={showLog}
                  />
                ) : (
                  <Empty title="There is no plan yet" />
                )}
              </Tabs.Panel>
              <Tabs.Panel value="log">
                <LogView id={id} log={log} isOver={isOver} plan={deployment.plan} startedAt={deployment.started_at} />
              </Tabs.Panel>
              <Tabs.Panel value="changes">
                <Replaced deployment={deployment} />
              </Tabs.Panel>
              <Tabs.Panel value="failures">
                <Failures id={id} plan={deployment.plan} />
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

/** The number that a tab shows; none while it is not known, or if there is nothing. */
function Count({ of: count }: { of: number | undefined }) {
  if (!count) return null
  return (
    <Text span size="xs" lh={1}>
      {count.toLocaleString()}
    </Text>
  )
}

function LineCount({ log }: { log: LogStore }) {
  useChanges(log.changes)
  return <Count of={log.count} />
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
  const [problem, setProblem] = useState<Error | null>(null)
  const where = [deployment.tenant_name, deployment.environment_name].filter(Boolean).join(' / ')
  return (
    <>
      <Group gap="lg">
        <StateBadge state={deployment.state} />
        <div style={{ width: 240 }}>
          <Steps deployment={counts} />
        </div>
        {where !== '' && <Text size="sm">{where}</Text>}
        <Group ml="auto">
          <DownloadLog id={deployment.id} onError={setProblem} />
        </Group>
      </Group>
      {problem && <ErrorAlert error={problem} />}
      <Timeline deployment={deployment} />
    </>
  )
}
