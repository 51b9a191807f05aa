import { Group, Stack, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { StateBadge } from '../../components/state-badge.tsx'
import { duration, TimeAgo } from '../../components/time-ago.tsx'
import type { Step } from './grid-rows.ts'

interface Props {
  step: Step
  state: string
  onShowLog: (step: Step) => void
}

/** What is known of one step on one target. */
export function StepDetail({ step, state, onShowLog }: Props) {
  const facts: [string, ReactNode][] = [
    ['Target', step.target_name],
    ['Action', `${step.action_name} ${step.action_version}`],
    ['Sequence', `${step.sequence_name} ${step.sequence_version}`],
    ['Started', <TimeAgo key="started" at={step.started_at} />],
    ['Took', duration(step.duration_ms)],
    ['Exit code', step.exit_code ?? '–'],
    ['Retries', step.retry_count],
  ]
  if (step.end_confirmed === false) facts.push(['Its command', 'was killed; whether it has ended is not known'])
  return (
    <Stack gap="xs">
      <Group>
        <StateBadge state={state} />
        <button type="button" className="link-button" onClick={() => onShowLog(step)}>
          Show its log
        </button>
      </Group>
      {step.error_message && <Text size="sm">{step.error_message}</Text>}
      <Table>
        <Table.Tbody>
          {facts.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th w={110}>{name}</Table.Th>
              <Table.Td>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  )
}
