import { Group, Modal, SegmentedControl, Text, TextInput } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useChanges } from './changes.ts'
import { arrange, type GridRow, OUTLOOKS, type Outlook, outlookOf, type Plan, type Step } from './grid-rows.ts'
import { GridTable } from './grid-table.tsx'
import { StepDetail } from './step-detail.tsx'
import type { StepStates } from './step-states.ts'

interface Props {
  plan: Plan
  live: StepStates
  onShowLog: (step: Step) => void
}

/** Targets × steps. Shows all targets, or only those with one outcome or with a text in their name. */
export function StepGrid({ plan, live, onShowLog }: Props) {
  const version = useChanges(live.changes)
  const { rows, columns } = useMemo(() => arrange(plan.steps), [plan])
  const [wanted, setWanted] = useState<Outlook | 'all'>('all')
  const [text, setText] = useState('')
  const [opened, setOpened] = useState<Step | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `live` is the same object, its version is not
  const groups = useMemo(() => groupByOutlook(rows, live), [rows, live, version])
  const shown = useMemo(() => {
    const name = text.trim().toLowerCase()
    const some = wanted === 'all' ? rows : groups[wanted]
    return name === '' ? some : some.filter(({ target }) => target.toLowerCase().includes(name))
  }, [rows, groups, wanted, text])
  const stateOf = (step: Step) => live.get(step.id) ?? step.state

  return (
    <>
      <Group mb="xs">
        <TextInput
          size="xs"
          placeholder="Find a target"
          aria-label="Find a target"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <div className="grid-outlooks">
          <SegmentedControl
            size="xs"
            aria-label="Show targets"
            value={wanted}
            onChange={setWanted}
            data={(['all', ...OUTLOOKS] as const).map((value) => ({
              value,
              label: `${value} ${(value === 'all' ? rows : groups[value]).length.toLocaleString()}`,
            }))}
          />
        </div>
      </Group>
      {shown.length === 0 ? (
        <Text size="sm">No target is like this.</Text>
      ) : (
        <GridTable rows={shown} columns={columns} stateOf={stateOf} onOpen={setOpened} />
      )}
      <Modal opened={opened !== null} onClose={() => setOpened(null)} title={opened?.action_name ?? ''}>
        {opened && <StepDetail step={opened} state={stateOf(opened)} onShowLog={onShowLog} />}
      </Modal>
    </>
  )
}

function groupByOutlook(rows: readonly GridRow[], live: StepStates): Record<Outlook, GridRow[]> {
  const groups: Record<Outlook, GridRow[]> = { failed: [], running: [], waiting: [], done: [] }
  for (const row of rows) groups[outlookOf(row, live)].push(row)
  return groups
}
