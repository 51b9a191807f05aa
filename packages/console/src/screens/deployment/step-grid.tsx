// biome-ignore-all lint/a11y/useSemanticElements: a table cannot leave out the rows that are not in view
// biome-ignore-all lint/a11y/useFocusableInteractive: the buttons in the cells take the focus
import { Group, Modal, Stack, Table, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef, useState } from 'react'
import { StateBadge } from '../../components/state-badge.tsx'
import { duration, TimeAgo } from '../../components/time-ago.tsx'
import './grid.css'

type Plan = NonNullable<Answer<'getDeployment'>['plan']>
type Step = Plan['steps'][number]

const ROW = 28
const LETTERS: Record<string, string> = {
  pending: '·',
  running: '▶',
  completed: '✓',
  failed: '✗',
  cancelled: '⊘',
  skipped: '–',
  rolling_back: '↺',
  rolled_back: '↩',
  rollback_failed: '!',
}

interface Props {
  plan: Plan
  /** States that the live stream told since the plan was read, by step. */
  live: ReadonlyMap<string, string>
  onShowLog: (target: string) => void
}

/** Targets × steps. Only the rows in view are drawn, so that 10,000 targets are no more work than fifty. */
export function StepGrid({ plan, live, onShowLog }: Props) {
  const { rows, columns } = useMemo(() => arrange(plan.steps), [plan])
  const [shown, setShown] = useState<Step | null>(null)
  const frame = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW,
    overscan: 10,
  })
  const stateOf = (step: Step) => live.get(step.id) ?? step.state
  return (
    <>
      <div
        ref={frame}
        className="grid"
        role="grid"
        aria-label="Steps of each target"
        aria-rowcount={rows.length + 1}
        tabIndex={0}
      >
        <div className="grid-row grid-head" role="row">
          <span className="grid-target" role="columnheader">
            Target
          </span>
          {columns.map((name, index) => (
            <span
              // biome-ignore lint/suspicious/noArrayIndexKey: the columns of a plan never change
              key={`${index}-${name}`}
              className="grid-cell grid-name"
              role="columnheader"
              title={name}
            >
              {name}
            </span>
          ))}
        </div>
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }} role="rowgroup">
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const row = rows[index]
            return (
              row && (
                <div
                  key={key}
                  className="grid-row"
                  role="row"
                  aria-rowindex={index + 2}
                  style={{ position: 'absolute', top: 0, transform: `translateY(${start}px)` }}
                >
                  <span className="grid-target" role="rowheader" title={row.name}>
                    {row.name}
                  </span>
                  {row.steps.map((step) => (
                    <span key={step.id} className="grid-cell" role="gridcell">
                      <button
                        type="button"
                        className="grid-step"
                        data-state={stateOf(step)}
                        aria-label={`${row.name}, ${step.action_name}: ${stateOf(step).replaceAll('_', ' ')}`}
                        onClick={() => setShown(step)}
                      >
                        {LETTERS[stateOf(step)] ?? '?'}
                      </button>
                    </span>
                  ))}
                </div>
              )
            )
          })}
        </div>
      </div>
      <Modal opened={shown !== null} onClose={() => setShown(null)} title={shown?.action_name ?? ''}>
        {shown && <StepDetail step={shown} state={stateOf(shown)} onShowLog={onShowLog} />}
      </Modal>
    </>
  )
}

interface Row {
  name: string
  steps: Step[]
}

/** Groups the steps by target, in the order of the plan. */
function arrange(steps: readonly Step[]): { rows: Row[]; columns: string[] } {
  const rows = new Map<string, Row>()
  for (const step of steps) {
    const row = rows.get(step.target_id) ?? { name: step.target_name, steps: [] }
    row.steps.push(step)
    rows.set(step.target_id, row)
  }
  for (const row of rows.values()) {
    row.steps.sort((a, b) => a.sequence_order - b.sequence_order || a.action_order - b.action_order)
  }
  const [first] = rows.values()
  return { rows: [...rows.values()], columns: first?.steps.map(({ action_name }) => action_name) ?? [] }
}

function StepDetail({ step, state, onShowLog }: { step: Step; state: string; onShowLog: (target: string) => void }) {
  const facts: [string, React.ReactNode][] = [
    ['Target', step.target_name],
    ['Sequence', step.sequence_name],
    ['Started', <TimeAgo key="started" at={step.started_at} />],
    ['Took', duration(step.duration_ms)],
    ['Exit code', step.exit_code ?? '–'],
    ['Retries', step.retry_count],
    ...(step.end_confirmed === false
      ? [['Its command', 'was killed; whether it has ended is not known'] as [string, React.ReactNode]]
      : []),
  ]
  return (
    <Stack gap="xs">
      <Group>
        <StateBadge state={state} />
        <button type="button" className="link-button" onClick={() => onShowLog(step.target_name)}>
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
