import { Group, SegmentedControl, Text, TextInput } from '@mantine/core'
import type { Schema } from '@slipway/client'
import { useMemo, useState } from 'react'
import { useChanges } from './changes.ts'
import { cellAfter } from './grid-keys.ts'
import {
  arrange,
  batchSizeOf,
  type Cell,
  cellOfStep,
  type GridRow,
  OUTLOOKS,
  type Outlook,
  outlookOf,
  type Plan,
  type Step,
} from './grid-rows.ts'
import { GridTable } from './grid-table.tsx'
import type { LogStore } from './log-store.ts'
import { StepDetail } from './step-detail.tsx'
import { type Arrow, StepPanel } from './step-panel.tsx'
import type { StepStates } from './step-states.ts'

interface Props {
  /** The deployment. */
  id: string
  plan: Plan
  mode: Schema<'TargetMode'>
  log: LogStore
  live: StepStates
  onShowLog: (step: Step) => void
}

/** Targets × steps. Shows all targets, or only those with one outcome or with a text in their name. */
export function StepGrid({ id, plan, mode, log, live, onShowLog }: Props) {
  const version = useChanges(live.changes)
  const batchSize = batchSizeOf(mode)
  const { rows, columns } = useMemo(() => arrange(plan.steps, batchSize), [plan, batchSize])
  const [wanted, setWanted] = useState<Outlook | 'all'>('all')
  const [text, setText] = useState('')
  const [active, setActive] = useState<Cell>({ row: 0, column: 0 })
  /** The id of the step beside the grid. */
  const [opened, setOpened] = useState<string | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `live` is the same object, its version is not
  const groups = useMemo(() => groupByOutlook(rows, live), [rows, live, version])
  const shown = useMemo(() => {
    const name = text.trim().toLowerCase()
    const some = wanted === 'all' ? rows : groups[wanted]
    return name === '' ? some : some.filter(({ target }) => target.toLowerCase().includes(name))
  }, [rows, groups, wanted, text])
  const stateOf = (step: Step) => live.get(step.id) ?? step.state
  const { step, place } = useMemo(() => {
    const found = opened === null ? null : cellOfStep(rows, opened)
    return {
      step: found && rows[found.row]?.steps[found.column],
      // A filter may have left out its row meanwhile.
      place: opened === null ? null : cellOfStep(shown, opened),
    }
  }, [rows, shown, opened])
  const cellBeside = (arrow: Arrow): Cell | null => {
    if (place === null) return null
    const size = { rows: shown.length, columns: columns.length, page: 1 }
    const next = cellAfter({ key: arrow, ctrlKey: false }, place, size)
    return next?.row === place.row && next.column === place.column ? null : next
  }
  const canGo = (arrow: Arrow) => cellBeside(arrow) !== null
  const go = (arrow: Arrow) => {
    const next = cellBeside(arrow)
    const other = next && shown[next.row]?.steps[next.column]
    if (!other) return
    setActive(next)
    setOpened(other.id)
  }

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
        <GridTable
          rows={shown}
          columns={columns}
          batches={rows.at(-1)?.batch ?? 0}
          stateOf={stateOf}
          active={active}
          onActive={setActive}
          onOpen={({ id }) => setOpened(id)}
        />
      )}
      <StepPanel step={step} canGo={canGo} onGo={go} onClose={() => setOpened(null)}>
        {step && <StepDetail id={id} step={step} state={stateOf(step)} log={log} onShowLog={onShowLog} />}
      </StepPanel>
    </>
  )
}

function groupByOutlook(rows: readonly GridRow[], live: StepStates): Record<Outlook, GridRow[]> {
  const groups: Record<Outlook, GridRow[]> = { failed: [], running: [], waiting: [], done: [] }
  for (const row of rows) groups[outlookOf(row, live)].push(row)
  return groups
}
