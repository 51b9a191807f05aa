import { Alert, Anchor, Group, Stack, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { counted } from '../../components/counted.ts'
import { QuotedText } from '../../components/quoted-text.tsx'
import { type Failure, groupFailures, lastLines, outputOf, stepsOf, summaryOf } from './failure-groups.ts'
import { LogLink } from './log-link.tsx'
import { OutputBlock } from './output-block.tsx'

interface Props {
  deployment: Answer<'getDeployment'>
  failures: readonly Failure[]
  /** Without the output, which the log below it shows. */
  isBrief: boolean
}

/** Why a deployment did not succeed: the most frequent cause, and the end of the output of the first step with it. */
export function FailureBox({ deployment: { id, plan, error_message }, failures, isBrief }: Props) {
  const first = groupFailures(failures)[0]?.failures[0]
  const step = useMemo(() => first && stepsOf(plan, [first]).get(first.id), [plan, first])
  if (first === undefined && error_message === null) return null
  const summary = first === undefined ? '' : summaryOf(first)
  const output = first === undefined ? '' : lastLines(outputOf(first))
  return (
    <Alert color="red" title="Why it did not succeed">
      <Stack gap="xs">
        {summary !== '' && !error_message?.includes(summary) && (
          <Text size="sm" fw={600}>
            <QuotedText text={summary} />
          </Text>
        )}
        {error_message !== null && (
          <Text size="sm">
            <QuotedText text={error_message} />
          </Text>
        )}
        {first !== undefined && (
          <>
            {output !== '' && !isBrief && (
              <OutputBlock text={output} label={`Last lines of ${first.action_name} on ${first.target_name}`} />
            )}
            <Group gap="lg">
              <LogLink id={id} step={step} c="inherit">
                Show in log
              </LogLink>
              {failures.length > 1 && (
                <Anchor
                  component={Link}
                  to={`/deployments/${id}`}
                  search={{ tab: 'failures' } as never}
                  size="sm"
                  c="inherit"
                >
                  {counted(failures.length, 'failure')}
                </Anchor>
              )}
            </Group>
          </>
        )}
      </Stack>
    </Alert>
  )
}
