import { memo } from 'react'
import { AnsiText } from './ansi-text.tsx'
import { cellOf, type LogColumn, type LogContext } from './log-columns.ts'
import type { LogLine } from './log-reads.ts'

interface ShownProps {
  /** The index of the row in its part, and in all. */
  index: number
  row: number
  /** Measures rows that differ in height. */
  measure: ((element: Element | null) => void) | undefined
  columns: readonly LogColumn[]
  context: LogContext
}

interface PartialProps extends ShownProps {
  line: LogLine
}

/** A line that its command has not finished. It has no number yet. */
export const PartialRow = memo(({ index, row, measure, line, columns, context }: PartialProps) => (
  <div ref={measure} className="log-line" data-index={index} data-row={row} data-level={line.level} title={line.at}>
    <span className="log-number" />
    <Cells line={line} columns={columns} context={context} />
    <span className="log-text" data-testid="log-partial-text">
      <AnsiText text={line.text} />
    </span>
  </div>
))

interface Props extends ShownProps {
  /** From 0, as the API counts. People count from 1. */
  number: number
  line: LogLine | undefined
  search: string | undefined
  isChosen: boolean
  onChoose: (number: number) => void
}

export const LogRow = memo((props: Props) => {
  const { index, row, measure, number, line, search, isChosen, onChoose, columns, context } = props
  return (
    <div
      ref={measure}
      className="log-line"
      data-index={index}
      data-row={row}
      data-level={line?.level}
      data-chosen={isChosen}
      title={line?.at}
    >
      <a
        className="log-number"
        href={`?line=${number + 1}`}
        tabIndex={-1}
        aria-label={`Link to line ${number + 1}`}
        onClick={(event) => {
          event.preventDefault()
          onChoose(number)
        }}
      >
        {number + 1}
      </a>
      <Cells line={line} columns={columns} context={context} />
      <span className="log-text" data-testid="log-text">
        {line === undefined ? '…' : <AnsiText text={line.text} search={search} />}
      </span>
    </div>
  )
})

function Cells({ line, columns, context }: Pick<ShownProps, 'columns' | 'context'> & { line: LogLine | undefined }) {
  return (
    <>
      <span className="log-target" title={line?.target ?? undefined}>
        {line?.target ?? ''}
      </span>
      {columns.map((column) => (
        <span key={column} className={`log-cell log-${column}`}>
          {line && cellOf(column, line, context)}
        </span>
      ))}
    </>
  )
}
