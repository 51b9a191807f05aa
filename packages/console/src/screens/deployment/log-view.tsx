import { Button, Checkbox, Group, NumberInput, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { counted } from '../../components/counted.ts'
import { ErrorAlert } from '../../components/error-alert.tsx'
import type { Search } from '../../components/use-address.ts'
import { useChanges } from './changes.ts'
import { filterOf, type LogChoices, LogFilters } from './log-filters.tsx'
import { LINE_HEIGHT, LogLines } from './log-lines.tsx'
import type { LogStore } from './log-store.ts'
import { RowWindow, useFollows } from './row-window.ts'
import { describeFound, type Found, useFoundLines } from './use-found-lines.ts'

interface Props {
  id: string
  log: LogStore
  isOver: boolean
  choices: LogChoices
}

/** The log: follows the end, or shows a line and what is around it; filtered, it shows the lines that match. */
export function LogView({ id, log, isOver, choices }: Props) {
  const search: Search = useSearch({ strict: false })
  const navigate = useNavigate()
  const chosen = search['line'] === undefined ? null : Number(search['line'])
  const filter = filterOf(search)
  const found = useFoundLines(id, log, filter)
  const [rows] = useState(() => new RowWindow({ rowHeight: LINE_HEIGHT, canFollow: true, follows: chosen === null }))

  const change = useCallback(
    (changed: Search, replace: boolean) =>
      void navigate({ to: `/deployments/${id}`, search: (before: Search) => ({ ...before, ...changed }), replace }),
    [navigate, id],
  )
  const choose = useCallback(
    (line: number | null) => change({ line: line === null ? undefined : String(line) }, false),
    [change],
  )
  const setFilter = useCallback((changed: Search) => change(changed, true), [change])

  return (
    <>
      <Group align="flex-end" gap="xs" mb="xs">
        <LogFilters choices={choices} search={search} onChange={setFilter} />
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
      <Counts log={log} found={filter ? found : null} />
      <LogLines log={log} rows={rows} found={filter ? found.lines : null} chosen={chosen} onChoose={choose} />
    </>
  )
}

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
      <Button variant="default" size="xs" mb={4} onClick={() => rows.show(0, 'nearest')}>
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
      {found ? describeFound(found, log.count) : counted(log.count, 'line')}
    </Text>
  )
}
