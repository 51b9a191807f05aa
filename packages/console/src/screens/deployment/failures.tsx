import { List, Paper, Stack, Text, Title } from '@mantine/core'
import { useMemo } from 'react'
import { Loaded } from '../../components/loaded.tsx'
import { Empty } from '../../components/page.tsx'
import { QuotedText } from '../../components/quoted-text.tsx'
import { type FailureGroup, groupFailures, outputOf, stepsOf, summaryOf } from './failure-groups.ts'
import type { Plan, Step } from './grid-rows.ts'
import { LogLink } from './log-link.tsx'
import { OutputBlock } from './output-block.tsx'
import { useFailures } from './use-failures.ts'

const SHOWN_TARGETS = 20

/** The failed commands, one group for each kind of failure, with its likely cause and what to do about it. */
export function Failures({ id, plan }: { id: string; plan: Plan | null }) {
  const failures = useFailures(id)
  const steps = useMemo(() => stepsOf(plan, failures.data ?? []), [plan, failures.data])
  return (
    <Loaded read={failures}>
      {(all) =>
        all.length === 0 ? (
          <Empty title="No command has failed" />
        ) : (
          <Stack>
            {groupFailures(all).map((group) => (
              <Group key={group.key} id={id} group={group} steps={steps} />
            ))}
          </Stack>
        )
      }
    </Loaded>
  )
}

interface GroupProps {
  id: string
  group: FailureGroup
  steps: ReadonlyMap<string, Step>
}

function Group({ id, group: { failures }, steps }: GroupProps) {
  const [first] = failures
  const { analysis, action_name, exit_code } = first
  const more = failures.length - SHOWN_TARGETS
  const output = outputOf(first)
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h5">
        <QuotedText text={summaryOf(first)} />
      </Title>
      <Text size="sm">
        {failures.length.toLocaleString()} × {action_name}
        {exit_code === undefined ? '' : `, exit code ${exit_code}`}, on{' '}
        {failures.slice(0, SHOWN_TARGETS).map((failure, index) => (
          <span key={failure.id}>
            {index > 0 && ', '}
            <LogLink id={id} step={steps.get(failure.id)}>
              {failure.target_name ?? 'a deleted target'}
            </LogLink>
          </span>
        ))}
        {more > 0 && ` and ${more.toLocaleString()} more`}
      </Text>
      {analysis && (
        <>
          <Text size="sm" mt="xs">
            <QuotedText text={analysis.likely_cause} />
          </Text>
          <List size="sm" my="xs">
            {analysis.remediation.map((advice) => (
              <List.Item key={advice}>
                <QuotedText text={advice} />
              </List.Item>
            ))}
          </List>
        </>
      )}
      {output !== '' && <OutputBlock text={output} label={`Output of ${action_name} on ${first.target_name}`} />}
    </Paper>
  )
}
