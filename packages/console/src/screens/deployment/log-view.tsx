import { Button, Checkbox, Group, NumberInput, Select, Text, TextInput } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { Search } from '../../app/router.tsx'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { AnsiText } from './ansi-text.tsx'
import './log.css'
import type { LogLine, LogStore } from './log-store.ts'
import { type LogFilter, useFoundLines } from './use-found-lines.ts'

const ROW = 20

/** The log: follows the end, or shows a line and what is around it; filtered, it shows the lines that match. */
export function LogView({
  id,
  log,
  isOver,
  targets,
}: {
  id: string
  log: LogStore
  isOver: boolean
  targets: string[]
}) {
  useSyncExternalStore(log.subscribe, log.version)
  const search: Search = useSearch({ strict: false })
  const navigate = useNavigate()
  const chosen = search['line'] === undefined ? null : Number(search['line'])
  const [follows, setFollows] = useState(chosen === null)
  const [filter, setFilter] = useState<LogFilter>({ text: '', target: null, level: null })
  const isFiltered = filter.text !== '' || filter.target !== null || filter.level !== null
  const found = useFoundLines(id, log, filter, isFiltered)
  const count = isFiltered ? found.lines.length : log.count

  const frame = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({ count, getScrollElement: () => frame.current, estimateSize: () => ROW, overscan: 20 })
  useEffect(() => {
    if (follows && count > 0) rows.scrollToIndex(count - 1)
  }, [follows, count, rows])
  const hasLines = log.count > 0
  useEffect(() => {
    if (chosen !== null && !isFiltered && hasLines)
      rows.scrollToIndex(Math.min(chosen, log.count - 1), { align: 'center' })
  }, [chosen, isFiltered, hasLines, rows, log])

  const choose = (line: number | null) => {
    if (line !== null) setFollows(false)
    void navigate({ to: `/deployments/${id}`, search: { ...search, line: line === null ? undefined : String(line) } })
  }

  return (
    <>
      <Group align="flex-end" mb="xs">
        <TextInput
          label="Search the log"
          value={filter.text}
          onChange={(event) => setFilter({ ...filter, text: event.currentTarget.value })}
        />
        <Select
          label="Target"
          placeholder="All"
          clearable
          clearButtonProps={{ 'aria-label': 'All targets' }}
          searchable
          limit={50}
          data={targets}
          value={filter.target}
          onChange={(target) => setFilter({ ...filter, target })}
        />
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
        {!isOver && (
          <Checkbox
            label="Follow"
            checked={follows}
            onChange={(event) => setFollows(event.currentTarget.checked)}
            mb={8}
          />
        )}
        <Button
          variant="default"
          size="xs"
          mb={4}
          onClick={() => {
            setFollows(false)
            rows.scrollToIndex(0)
          }}
        >
          Begin
        </Button>
        <Button variant="default" size="xs" mb={4} onClick={() => count > 0 && rows.scrollToIndex(count - 1)}>
          End
        </Button>
      </Group>
      {found.error && <ErrorAlert error={found.error} />}
      <Text size="xs" mb={4} role="status">
        {isFiltered
          ? `${found.lines.length.toLocaleString()} lines match; ${found.looked.toLocaleString()} of ${log.count.toLocaleString()} are searched`
          : `${log.count.toLocaleString()} lines`}
      </Text>
      <div
        ref={frame}
        className="log"
        role="log"
        aria-label="Output"
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        onWheel={(event) => event.deltaY < 0 && setFollows(false)}
      >
        <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
          {rows.getVirtualItems().map(({ key, index, start }) => {
            const line = isFiltered ? found.lines[index] : log.line(index)
            return (
              <div
                key={key}
                style={{ position: 'absolute', top: 0, minWidth: '100%', transform: `translateY(${start}px)` }}
              >
                <Line number={line?.number ?? index} line={line} isChosen={line?.number === chosen} onChoose={choose} />
              </div>
            )
          })}
        </div>
      </div>
    </>
  )
}

interface LineProps {
  number: number
  line: LogLine | undefined
  isChosen: boolean
  onChoose: (number: number) => void
}

function Line({ number, line, isChosen, onChoose }: LineProps) {
  return (
    <div className="log-line" data-level={line?.level} data-chosen={isChosen} title={line?.at}>
      <a
        className="log-number"
        href={`?line=${number}`}
        tabIndex={-1}
        aria-label={`Link to line ${number}`}
        onClick={(event) => {
          event.preventDefault()
          onChoose(number)
        }}
      >
        {number}
      </a>
      <span className="log-target">{line?.target ?? ''}</span>
      <span data-testid="log-text">{line === undefined ? '…' : <AnsiText text={line.text} />}</span>
    </div>
  )
}
