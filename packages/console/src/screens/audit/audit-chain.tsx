import { Alert, Button, Code, Group, List, Progress, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useRead } from '../../api/queries.ts'
import { counted } from '../../components/counted.ts'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Section } from '../../components/section.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { type ChainCheck, useChainCheck } from './use-chain-check.ts'

/** Whether the audit log is as it was written: of its newest records at once, of all on demand. */
export function AuditChain() {
  const newest = useRead('checkAuditChain', {})
  const { check, error, isRunning, start } = useChainCheck()
  return (
    <Section
      title="Chain"
      action={
        <Button size="xs" variant="default" loading={isRunning} onClick={() => void start()}>
          Check the whole chain
        </Button>
      }
    >
      {error && <ErrorAlert error={error} />}
      <Loaded read={newest}>
        {(part) => (
          <>
            {check ? (
              <Verdict check={check} which={check.isComplete ? 'All' : 'So far'} />
            ) : (
              <Verdict check={part} which={part.after === part.dropped ? 'All' : 'The newest'} />
            )}
            {isRunning && check && (
              <Progress
                value={(100 * (check.dropped + check.links)) / Math.max(1, check.head.position)}
                aria-label="How much of the chain is checked"
              />
            )}
            <Text size="xs" component="div" style={{ overflowWrap: 'anywhere' }}>
              Head <Code>{headText(check ?? part)}</Code>. Compare it with the head that the gateways publish in their
              logs and metrics.
            </Text>
          </>
        )}
      </Loaded>
    </Section>
  )
}

const headText = ({ head: { position, hash } }: Pick<ChainCheck, 'head'>) => `${position}:${hash}`

type Verdict = Pick<Answer<'checkAuditChain'>, 'links' | 'dropped' | 'broken' | 'findings'>

function Verdict({ check, which }: { check: Verdict; which: 'All' | 'So far' | 'The newest' }) {
  const { links, dropped, broken, findings } = check
  const records = `${which} ${counted(links, 'record')}`
  if (broken === 0) {
    return (
      <Group gap="xs" role="status">
        <StateBadge state={which === 'So far' ? 'checking' : 'whole'} />
        <Text size="sm">
          {records} were checked: none was changed, removed or inserted.
          {dropped > 0 && ` Retention has dropped ${dropped.toLocaleString()} older ones.`}
        </Text>
      </Group>
    )
  }
  return (
    <Alert color="red" title="The audit log was tampered with" role="alert">
      <Text size="sm">
        {records} were checked, {broken.toLocaleString()} problems were found.
      </Text>
      <List size="sm" mt={4}>
        {findings.map(({ position, record_number, problem }) => (
          <List.Item key={`${position} ${record_number} ${problem}`}>
            {position === null ? 'Outside of the chain' : `Position ${position}`}
            {record_number !== null && `, record ${record_number}`}: {problem}
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
