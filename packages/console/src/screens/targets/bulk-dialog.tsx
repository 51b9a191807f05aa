import { Alert, Button, Code, Group, List, Modal, Progress, Stack, Text } from '@mantine/core'
import { ApiError, type Item } from '@slipway/client'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { readAgain } from '../../api/queries.ts'
import { counted } from '../../components/counted.ts'
import { type Failure, inBulk } from '../../components/in-bulk.ts'

type Target = Item<'listTargets'>

interface Props {
  targets: readonly Target[]
  /** What the button does, such as "Disable". */
  label: string
  question: string
  isReady?: boolean
  act: (target: Target) => Promise<unknown>
  /** Inputs that belong to it. */
  children?: ReactNode
  onClose: (isDone: boolean) => void
}

/** Asks, acts on each target with its progress, and says what failed and why. What failed can be tried again. */
export function BulkDialog({ targets: chosen, label, question, isReady = true, act, children, onClose }: Props) {
  const queries = useQueryClient()
  // The list may lose them while they change, if it is filtered.
  const [targets] = useState(chosen)
  const [running, setRunning] = useState<{ done: number; of: number } | null>(null)
  const [failures, setFailures] = useState<Failure<Target>[] | null>(null)
  const run = async (those: readonly Target[]) => {
    setRunning({ done: 0, of: those.length })
    const failed = await inBulk(those, act, (done) => setRunning({ done, of: those.length }))
    setRunning(null)
    setFailures(failed)
    await readAgain(queries, ['listTargets', 'getTarget', 'listTags'])
    if (failed.length === 0) onClose(true)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isReady && running === null) void run(failures?.map(({ item }) => item) ?? targets)
  }
  return (
    // What is on its way goes on in any case, so the dialog stays until it has a result.
    <Modal opened onClose={() => running === null && onClose(failures !== null)} title={label}>
      <form onSubmit={submit}>
        <Stack>
          {failures === null && (
            <>
              <Text size="sm">
                {counted(targets.length, 'target')}. {question}
              </Text>
              {children}
            </>
          )}
          {running !== null && (
            <Stack gap={4}>
              <Text size="sm" role="status">
                {running.done.toLocaleString()} of {running.of.toLocaleString()}
              </Text>
              <Progress value={(100 * running.done) / running.of} aria-label={`${label}: ${running.done} done`} />
            </Stack>
          )}
          {running === null && failures !== null && <Result failures={failures} of={targets.length} />}
          <Group justify="flex-end">
            <Button variant="default" disabled={running !== null} onClick={() => onClose(failures !== null)}>
              {failures === null ? 'Cancel' : 'Close'}
            </Button>
            <Button type="submit" loading={running !== null} disabled={!isReady}>
              {failures === null ? label : `Try ${failures.length === 1 ? 'it' : 'these'} again`}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

function Result({ failures, of }: { failures: readonly Failure<Target>[]; of: number }) {
  return (
    <Alert
      color="red"
      role="alert"
      title={`${(of - failures.length).toLocaleString()} done, ${failures.length.toLocaleString()} failed`}
    >
      <List size="sm" mah={260} style={{ overflowY: 'auto' }}>
        {failures.map(({ item, error }) => (
          <List.Item key={item.id}>
            <b>{item.name}</b>: {error.message} {error instanceof ApiError && <Code>{error.code}</Code>}
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
