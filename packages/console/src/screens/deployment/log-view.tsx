import { Button, Checkbox, Group, NumberInput, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useState } from 'react'
import { counted } from '../../components/counted.ts'
import { ErrorAlert } from '../../components/error-alert.tsx'
import type { Search } from '../../components/use-address.ts'
import { useChanges } from './changes.ts'
import { filterOf, type LogChoices, LogFilters } from './log-filters.tsx'
import { LogLines } from './log-lines.tsx'
import { FAILED_LINE } from './log-link.tsx'
import { type LogPlace, placeAt } from './log-place.ts'
import type { LogStore } from './log-store.ts'
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
  const chosen = lineIn(search)
  const filter = filterOf(search)
  const found = useFoundLines(id, log, filter)
  const [place, setPlace] = useState<LogPlace>(chosen === null ? 'end' : placeAt(chosen, log.count))

  const change = useCallback(
    (changed: Search, replace: boolean) =>
      void navigate({ to: `/deployments/${id}`, search: (before: Search) => ({ ...before, ...changed }), replace }),
    [navigate, id],
  )
  const choose = useCallback(
    (line: number | null) => change({ line: line === null ? undefined : String(line) }, false),
    [change],
  )
  const failed = found.lines.find(({ isFailure }) => isFailure)?.number
  useEffect(() => {
    if (search['line'] === FAILED_LINE && failed !== undefined) change({ line: String(failed) }, true)
  }, [search, failed, change])
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
        {!isOver && (
          <Checkbox
            label="Follow"
            checked={place === 'end'}
            // The last line is in view, so the view stays where it is.
            onChange={(event) => setPlace(event.currentTarget.checked ? 'end' : placeAt(log.count - 1, log.count))}
            mb={8}
          />
        )}
        <Button variant="default" size="xs" mb={4} onClick={() => setPlace(placeAt(0, log.count))}>
          Begin
        </Button>
        <Button variant="default" size="xs" mb={4} onClick={() => setPlace('end')}>
          End
        </Button>
      </Group>
      {found.error && <ErrorAlert error={found.error} />}
      <Counts log={log} found={filter ? found : null} />
      <LogLines
        log={log}
        found={filter ? found.lines : null}
        place={place}
        onPlace={setPlace}
        chosen={chosen}
        onChoose={choose}
      />
    </>
  )
}

/** The line in an address; null where none is, or one that only a search knows. */
function lineIn({ line }: Search): number | null {
  return line !== undefined && /^\d+$/.test(line) ? Number(line) : null
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
