import { Group, Skeleton, Stack, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useRead } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { QuotedText } from '../../components/quoted-text.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { duration, TimeAgo } from '../../components/time-ago.tsx'
import type { Step } from './grid-rows.ts'
import type { LogStore } from './log-store.ts'
import { OutputBlock } from './output-block.tsx'
import { useStepTail } from './use-step-tail.ts'

const UNSTARTED: ReadonlySet<string> = new Set(['pending', 'skipped'])

interface Props {
  /** The deployment. */
  id: string
  step: Step
  state: string
  log: LogStore
  onShowLog: (step: Step) => void
}

/** One step on one target: its state, its result and the end of its output. */
export function StepDetail({ id, step, state, log, onShowLog }: Props) {
  return (
    <Stack gap="xs" mt="xs">
      <Group>
        <StateBadge state={state} />
        <button type="button" className="link-button" onClick={() => onShowLog(step)}>
          Show in log
        </button>
      </Group>
      <Result id={id} step={step} state={state} />
      <Tail key={step.id} id={id} step={step} log={log} />
    </Stack>
  )
}

/** How its command ended. The plan tells it of the time when the page was opened. */
function Result({ id, step, state }: Pick<Props, 'id' | 'step' | 'state'>) {
  const hasStarted = !UNSTARTED.has(state)
  const hasEnded = hasStarted && state !== 'running'
  const input = { params: { id }, query: { step_id: step.id } }
  const result = useRead('listCommandResults', input, { enabled: hasEnded }).data?.[0]
  const { analysis, error_message = step.error_message } = result ?? {}
  const facts: [string, ReactNode][] = [
    ['Target', step.target_name],
    ['Action', `${step.action_name} ${step.action_version}`],
    ['Sequence', `${step.sequence_name} ${step.sequence_version}`],
    ['Started', <TimeAgo key="started" at={result?.started_at ?? step.started_at} />],
    ['Took', duration(result?.duration_ms ?? step.duration_ms)],
    ['Exit code', result?.exit_code ?? step.exit_code ?? '–'],
    ['Attempts', hasStarted ? step.retry_count + 1 : 0],
  ]
  if (step.end_confirmed === false) facts.push(['Its command', 'was killed; whether it has ended is not known'])
  return (
    <>
      {analysis && (
        <Text size="sm" fw={600}>
          <QuotedText text={analysis.summary} />
        </Text>
      )}
      {error_message && (
        <Text size="sm">
          <QuotedText text={error_message} />
        </Text>
      )}
      <Table>
        <Table.Tbody>
          {facts.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th w={110}>{name}</Table.Th>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </>
  )
}

function Tail({ id, step, log }: Pick<Props, 'id' | 'step' | 'log'>) {
  const { text, isRead, error } = useStepTail(id, step.id, log)
  if (error !== null) return <ErrorAlert error={error} />
  if (!isRead) return <Skeleton h={120} aria-label="Loading" />
  if (text === '') return <Text size="sm">It has written nothing.</Text>
  return <OutputBlock text={text} label={`Last lines of ${step.action_name} on ${step.target_name}`} isFollowed />
}
