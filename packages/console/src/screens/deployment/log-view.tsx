import { Button, Checkbox, Group, NumberInput, Select, Text, TextInput } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { memo, useCallback, useState } from 'react'
import type { Search } from '../../app/router.tsx'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { useChanges } from './changes.ts'
import { LINE_HEIGHT, LogLines } from './log-lines.tsx'
import type { LogStore } from './log-store.ts'
import { RowWindow, useFollows } from './row-window.ts'
import { type Found, type LogFilter, useFoundLines } from './use-found-lines.ts'

interface Props {
  id: string
  log: LogStore
  isOver: boolean
  targets: readonly string[]
}

/** The log: follows the end, or shows a line and what is around it; filtered, it shows the lines that match. */
export function LogView({ id, log, isOver, targets }: Props) {
  const search: Search = useSearch({ strict: false })
  const navigate = useNavigate()
  const chosen = search['line'] === undefined ? null : Number(search['line'])
  const [filter, setFilter] = useState<LogFilter>({ text: '', target: search['target'] ?? null, level: null })
  const isFiltered = filter.text !== '' || filter.target !== null || filter.level !== null
  const found = useFoundLines(id, log, filter, isFiltered)
  const [rows] = useState(() => new RowWindow({ rowHeight: LINE_HEIGHT, canFollow: true, follows: chosen === null }))

  const choose = useCallback(
    (line: number | null) =>
      void navigate({
        to: `/deployments/${id}`,
        search: (before: Search) => ({ ...before, line: line === null ? undefined : String(line) }),
      }),
    [navigate, id],
  )
  const chooseTarget = useCallback((target: string | null) => setFilter((before) => ({ ...before, target })), [])

  return (
    <>
      <Group align="flex-end" mb="xs">
        <TextInput
          label="Search the log"
          value={filter.text}
          onChange={(event) => setFilter({ ...filter, text: event.currentTarget.value })}
        />
        <TargetSelect targets={targets} value={filter.target} onChange={chooseTarget} />
        <Select
          label="Level"
          placeholder="All"
          clearable
          clearButtonProps={{ 'aria-label': 'All levels' }}
          data={['info', 'warning', 'error']}
          value={filter.level}
          onChange={(level) => setFilter({ ...filter, level })}
        />
        <NumberInput
          label="Line"
          min={0}
          w={110}
          hideControls
          value={chosen ?? ''}
          onChange={(line) => choose(line === '' ? null : Number(line))}
        />
        <Ends rows={rows} isOver={isOver} />
      </Group>
      {found.error && <ErrorAlert error={found.error} />}
      <Counts log={log} found={isFiltered ? found : null} />
      <LogLines log={log} rows={rows} found={isFiltered ? found.lines : null} chosen={chosen} onChoose={choose} />
    </>
  )
}

interface TargetSelectProps {
  targets: readonly string[]
  value: string | null
  onChange: (target: string | null) => void
}

/** Drawn only when it changes: it may have ten thousand choices. */
const TargetSelect = memo(({ targets, value, onChange }: TargetSelectProps) => (
  <Select
    label="Target"
    placeholder="All"
    clearable
    clearButtonProps={{ 'aria-label': 'All targets' }}
    searchable
    limit={50}
    data={targets}
    value={value}
    onChange={onChange}
  />
))

/** Goes to the begin and the end of the log. */
function Ends({ rows, isOver }: { rows: RowWindow; isOver: boolean }) {
  const follows = useFollows(rows)
  return (
    <>
      {!isOver && (
        <Checkbox
          label="Follow"
          checked={follows}
          onChange={(event) => rows.follow(event.currentTarget.checked)}
          mb={8}
        />
      )}
      <Button variant="default" size="xs" mb={4} onClick={() => rows.show(0, 'middle')}>
        Begin
      </Button>
      <Button variant="default" size="xs" mb={4} onClick={() => rows.follow(true)}>
        End
      </Button>
    </>
  )
}

/** How many lines there are, or match. */
function Counts({ log, found }: { log: LogStore; found: Found | null }) {
  useChanges(log.changes)
  return (
    <Text size="xs" mb={4} role="status">
      {found
        ? `${found.lines.length.toLocaleString()} lines match; ${found.looked.toLocaleString()} of ${log.count.toLocaleString()} are searched`
        : `${log.count.toLocaleString()} lines`}
    </Text>
  )
}
