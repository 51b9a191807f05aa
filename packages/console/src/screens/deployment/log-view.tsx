import { Button, Checkbox, Group, NumberInput, Text } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { counted } from '../../components/counted.ts'
import { ErrorAlert } from '../../components/error-alert.tsx'
import type { Search } from '../../components/use-address.ts'
import { useChanges } from './changes.ts'
import type { Plan } from './grid-rows.ts'
import { type LogColumn, logContext } from './log-columns.ts'
import { CopyLog } from './log-copy-button.tsx'
import { DownloadOptions } from './log-download.tsx'
import { choicesOf, filterOf, LogFilters } from './log-filters.tsx'
import { LogLines } from './log-lines.tsx'
import { FAILED_LINE } from './log-link.tsx'
import { LogLooks } from './log-looks.tsx'
import { LogMatches } from './log-matches.tsx'
import { type LogPlace, PART, placeAt, WRAPPED_PART } from './log-place.ts'
import type { LogStore } from './log-store.ts'
import { describeFound, type Found, useFoundLines } from './use-found-lines.ts'

interface Props {
  id: string
  log: LogStore
  isOver: boolean
  plan: Plan | null
  startedAt: string | null
}

const NO_COLUMNS: LogColumn[] = []

/** The log: follows the end, or shows a line and what is around it; filtered, it shows the lines that match. */
export function LogView({ id, log, isOver, plan, startedAt }: Props) {
  const search: Search = useSearch({ strict: false })
  const navigate = useNavigate()
  const chosen = lineIn(search)
  const filter = filterOf(search)
  const found = useFoundLines(id, log, filter)
  const isAround = search['around'] === 'yes'
  const shown = filter === null || isAround ? null : found.lines
  const [isWrapped, setWrapped] = useLocalStorage({
    key: 'slipway-log-wrap',
    defaultValue: false,
    getInitialValueInEffect: false,
  })
  const [columns, setColumns] = useLocalStorage({
    key: 'slipway-log-columns',
    defaultValue: NO_COLUMNS,
    getInitialValueInEffect: false,
  })
  const choices = useMemo(() => choicesOf(plan), [plan])
  const needsSteps = columns.includes('step')
  const context = useMemo(() => logContext(plan, startedAt, needsSteps), [plan, startedAt, needsSteps])
  const size = isWrapped ? WRAPPED_PART : PART
  const at = useCallback((row: number) => placeAt(row, log.count, size), [log, size])
  const [place, setPlace] = useState<LogPlace>(chosen === null ? 'end' : at(chosen))
  const middle = useRef(chosen ?? 0)
  const [error, setError] = useState<Error | null>(null)

  const change = useCallback(
    (changed: Search, replace: boolean) =>
      void navigate({ to: `/deployments/${id}`, search: (before: Search) => ({ ...before, ...changed }), replace }),
    [navigate, id],
  )
  const choose = useCallback(
    (number: number | null) => change({ line: number === null ? undefined : String(number + 1) }, false),
    [change],
  )
  const setFilter = useCallback((changed: Search) => change(changed, true), [change])
  const setAround = (around: boolean) => {
    const line = chosen ?? found.lines[middle.current]?.number
    change({ around: around ? 'yes' : undefined, ...(line === undefined ? {} : { line: String(line + 1) }) }, true)
  }
  const wrap = (wrapped: boolean) => {
    if (place !== 'end') setPlace(placeAt(middle.current, shown?.length ?? log.count, wrapped ? WRAPPED_PART : PART))
    setWrapped(wrapped)
  }

  const failed = found.lines.find(({ isFailure }) => isFailure)?.number
  useEffect(() => {
    if (search['line'] === FAILED_LINE && failed !== undefined) change({ line: String(failed + 1) }, true)
  }, [search, failed, change])

  return (
    <>
      <Group align="flex-end" gap="xs" mb="xs">
        <LogFilters choices={choices} search={search} onChange={setFilter} />
        <NumberInput
          label="Line"
          min={1}
          w={90}
          hideControls
          value={chosen === null ? '' : chosen + 1}
          onChange={(line) => choose(line === '' ? null : Number(line) - 1)}
        />
        <Button variant="default" size="xs" mb={4} onClick={() => setPlace(at(0))}>
          Start
        </Button>
        <Button variant="default" size="xs" mb={4} onClick={() => setPlace('end')}>
          End
        </Button>
        {!isOver && (
          <Checkbox
            label="Follow"
            checked={place === 'end'}
            // The last line is in view, so the view stays where it is.
            onChange={(event) => setPlace(event.currentTarget.checked ? 'end' : at(log.count - 1))}
            mb={8}
          />
        )}
      </Group>
      {found.error && <ErrorAlert error={found.error} />}
      {error && <ErrorAlert error={error} />}
      <Group gap="xs" mb={4} justify="space-between">
        <Group gap="xs">
          <Counts log={log} found={filter ? found : null} />
          {filter !== null && (
            <LogMatches
              log={log}
              found={found}
              chosen={chosen}
              onChoose={choose}
              isAround={isAround}
              onAround={setAround}
            />
          )}
        </Group>
        <Group gap="xs">
          <LogLooks isWrapped={isWrapped} onWrap={wrap} columns={columns} onColumns={setColumns} />
          <CopyLog
            id={id}
            log={log}
            found={shown}
            middle={middle}
            columns={columns}
            context={context}
            onError={setError}
          />
          <DownloadOptions id={id} filter={filter} onError={setError} />
        </Group>
      </Group>
      <LogLines
        // Heights that were measured do not fit lines of the other kind.
        key={isWrapped ? 'wrapped' : 'lines'}
        log={log}
        found={shown}
        search={search['search']}
        isWrapped={isWrapped}
        columns={columns}
        context={context}
        place={place}
        onPlace={setPlace}
        middle={middle}
        chosen={chosen}
        onChoose={choose}
      />
    </>
  )
}

/** The number of the line in an address, from 0; null where none is, or one that only a search knows. */
function lineIn({ line }: Search): number | null {
  return line !== undefined && /^[1-9]\d{0,14}$/.test(line) ? Number(line) - 1 : null
}

/** How many lines there are, or match. */
function Counts({ log, found }: { log: LogStore; found: Found | null }) {
  useChanges(log.changes)
  return (
    <Text size="xs" role="status">
      {found ? describeFound(found, log.count) : counted(log.count, 'line')}
    </Text>
  )
}
