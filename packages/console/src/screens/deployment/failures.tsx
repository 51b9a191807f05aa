import { Code, List, Paper, Stack, Text, Title } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty } from '../../components/page.tsx'
import { AnsiText } from './ansi-text.tsx'

type Result = Answer<'listCommandResults'>[number]

interface Group {
  key: string
  results: Result[]
}

const SHOWN_TARGETS = 20

/** The failed commands, one group for each kind of failure, with its likely cause and what to do about it. */
export function Failures({ id }: { id: string }) {
  const results = useRead('listCommandResults', { params: { id } })
  return (
    <Loaded read={results}>
      {(all) => {
        const groups = group(all.filter(({ status }) => status !== 'completed' && status !== 'success'))
        if (groups.length === 0) return <Empty title="No command has failed" />
        return (
          <Stack>
            {groups.map(({ key, results }) => (
              <FailureGroup key={key} results={results} />
            ))}
          </Stack>
        )
      }}
    </Loaded>
  )
}

function group(results: readonly Result[]): Group[] {
  const groups = new Map<string, Result[]>()
  for (const result of results) {
    const key = result.analysis?.fingerprint ?? `${result.action_name} ${result.exit_code} ${result.error_message}`
    groups.set(key, [...(groups.get(key) ?? []), result])
  }
  return [...groups].map(([key, results]) => ({ key, results })).sort((a, b) => b.results.length - a.results.length)
}

function FailureGroup({ results }: { results: Result[] }) {
  const [first] = results
  if (first === undefined) return null
  const { analysis, action_name, exit_code, error_message } = first
  const names = results.slice(0, SHOWN_TARGETS).map(({ target_name }) => target_name ?? 'a deleted target')
  const output = (first.stderr_tail || first.stdout_tail) ?? ''
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h5">
        {analysis?.summary ?? error_message ?? `${action_name} failed`}
      </Title>
      <Text size="sm">
        {results.length} × {action_name}
        {exit_code === undefined ? '' : `, exit code ${exit_code}`}: {names.join(', ')}
        {results.length > SHOWN_TARGETS && ` and ${results.length - SHOWN_TARGETS} more`}
      </Text>
      {analysis && (
        <>
          <Text size="sm" mt="xs">
            {analysis.likely_cause} ({Math.round(analysis.confidence * 100)} % sure)
          </Text>
          <List size="sm">
            {analysis.remediation.map((advice) => (
              <List.Item key={advice}>{advice}</List.Item>
            ))}
          </List>
        </>
      )}
      {output !== '' && (
        <Code block mt="xs" mah={240} style={{ overflow: 'auto' }} tabIndex={0}>
          <AnsiText text={output} />
        </Code>
      )}
    </Paper>
  )
}
