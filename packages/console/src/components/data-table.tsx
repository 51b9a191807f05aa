import './data-table.css'
import { ActionIcon, Box, Checkbox, CopyButton, Group, Table, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode, SyntheticEvent } from 'react'
import { type ColumnChoice, ColumnMenu } from './column-menu.tsx'
import { directionOf, nextSort } from './sorting.ts'
import { useChosenColumns } from './use-chosen-columns.ts'

export interface Column<T> {
  head: string
  cell: (row: T) => ReactNode
  /** In pixels. Columns without a width share what is left. */
  width?: number
  /** Hidden until the user chooses it. Only in tables with a name. */
  isExtra?: boolean
  /** Takes several lines rather than to be cut off. */
  wraps?: boolean
  /** The column of the API, if it sorts by it; with "-" where the first click sorts downwards. */
  sort?: string
  /** What a button beside the text copies. */
  copied?: (row: T) => string | null
}

/** What a row shows below it when it is opened. */
export interface Details<T> {
  label: (row: T) => string
  content: (row: T) => ReactNode
}

/** The order of the rows. The server sorts: they are one page of many. */
export interface Sorting {
  /** As the API writes it; undefined for the usual order. */
  value: string | undefined
  onChange: (sort: string | undefined) => void
}

/** The rows that are chosen, by id. */
export interface Selection<T> {
  ids: ReadonlySet<string>
  onChange: (ids: ReadonlySet<string>) => void
  /** How a row is named, for screen readers. */
  nameOf: (row: T) => string
}

interface RowProps<T> {
  columns: readonly Column<T>[]
  /** The buttons at the end of a row. */
  actions?: ((row: T) => ReactNode) | undefined
  details?: Details<T> | undefined
  selection?: Selection<T> | undefined
}

interface Props<T> extends RowProps<T> {
  rows: readonly T[]
  /** In pixels, of the buttons at the end of a row. */
  actionsWidth?: number | undefined
  /** For screen readers, where the title of the screen or section does not say what the rows are. */
  label?: string
  /** Under this name the browser remembers which columns the user has chosen. Absent: all are shown. */
  name?: string
  sorting?: Sorting | undefined
}

const NARROW = 32
/** A column without a width has at least these pixels. */
const LEAST_WIDTH = 130
const ACTIONS_WIDTH = 130

/**
 * A table of records: rows of one line, columns that sort and that can be chosen, a selection, buttons and details. In a
 * narrow place each row is a card.
 */
export function DataTable<T extends { id: string }>(props: Props<T>) {
  const { rows, label, name, sorting, actionsWidth = ACTIONS_WIDTH, columns: all, ...shown } = props
  const choice = useChosenColumns(name, all)
  const columns = all.filter(({ head }) => choice.isShown(head))
  const { actions, details, selection } = shown
  const width =
    columns.reduce((sum, column) => sum + (column.width ?? LEAST_WIDTH), 0) +
    (details ? NARROW : 0) +
    (selection ? NARROW : 0) +
    (actions ? actionsWidth : 0)
  return (
    <Box className="data-table" __vars={{ '--data-table-width': `${width}px` }}>
      <Table aria-label={label} role="table" verticalSpacing={3} horizontalSpacing={6} onMouseOver={nameCutOff}>
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {selection && <SelectAll rows={rows} selection={selection} />}
            {details && <HiddenHead width={NARROW}>Details</HiddenHead>}
            {columns.map((column) => (
              <Head key={column.head} column={column} sorting={sorting} />
            ))}
            {(actions || name !== undefined) && (
              <LastHead
                width={actions ? actionsWidth : NARROW}
                hasActions={actions !== undefined}
                choice={name === undefined ? null : { columns: all, ...choice }}
              />
            )}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {rows.map((row) => (
            <Row key={row.id} row={row} columns={columns} hasLast={name !== undefined} {...shown} />
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  )
}

/** Gives a text that is cut off its whole as a title. */
function nameCutOff({ target }: SyntheticEvent) {
  const text = target instanceof Element ? target.closest<HTMLElement>('.data-table-text') : null
  if (text === null) return
  if (text.scrollWidth > text.clientWidth) text.title = text.textContent ?? ''
  else text.removeAttribute('title')
}

function HiddenHead({ width, children }: { width: number; children: string }) {
  return (
    <Table.Th w={width} role="columnheader">
      <VisuallyHidden>{children}</VisuallyHidden>
    </Table.Th>
  )
}

function Head<T>({ column, sorting }: { column: Column<T>; sorting: Sorting | undefined }) {
  const { head, width, sort } = column
  if (sort === undefined || sorting === undefined) {
    return (
      <Table.Th w={width} role="columnheader">
        {head}
      </Table.Th>
    )
  }
  const direction = directionOf(sort, sorting.value)
  return (
    <Table.Th w={width} role="columnheader" aria-sort={direction ?? 'none'}>
      <UnstyledButton
        className="data-table-sort"
        onClick={() => sorting.onChange(nextSort(sort, sorting.value))}
        title={`Sort by ${head.toLowerCase()}`}
      >
        {head} <span aria-hidden>{direction === null ? '↕' : direction === 'ascending' ? '↑' : '↓'}</span>
      </UnstyledButton>
    </Table.Th>
  )
}

interface LastHeadProps<T> {
  width: number
  hasActions: boolean
  choice: (ColumnChoice & { columns: readonly Column<T>[] }) | null
}

function LastHead<T>({ width, hasActions, choice }: LastHeadProps<T>) {
  return (
    <Table.Th w={width} role="columnheader" ta="right">
      <VisuallyHidden>{hasActions ? 'Actions' : 'Columns'}</VisuallyHidden>
      {choice && <ColumnMenu {...choice} heads={choice.columns.slice(1).map(({ head }) => head)} />}
    </Table.Th>
  )
}

function SelectAll<T extends { id: string }>({ rows, selection }: { rows: readonly T[]; selection: Selection<T> }) {
  const { ids, onChange } = selection
  const isAll = rows.length > 0 && rows.every(({ id }) => ids.has(id))
  return (
    <Table.Th w={NARROW} role="columnheader">
      <Checkbox
        size="xs"
        aria-label="Select all on this page"
        checked={isAll}
        indeterminate={!isAll && ids.size > 0}
        onChange={() => onChange(new Set(isAll ? [] : rows.map(({ id }) => id)))}
      />
    </Table.Th>
  )
}

function Row<T extends { id: string }>(props: RowProps<T> & { row: T; hasLast: boolean }) {
  const { row, columns, actions, details, selection, hasLast } = props
  const [isOpen, { toggle }] = useDisclosure(false)
  const detailsId = `details-${row.id}`
  return (
    <>
      <Table.Tr role="row" data-selected={selection?.ids.has(row.id) || undefined}>
        {selection && <Select row={row} selection={selection} />}
        {details && (
          <Table.Td role="cell">
            <ActionIcon
              variant="subtle"
              size="sm"
              onClick={toggle}
              aria-expanded={isOpen}
              aria-controls={detailsId}
              aria-label={details.label(row)}
            >
              {isOpen ? '▾' : '▸'}
            </ActionIcon>
          </Table.Td>
        )}
        {columns.map((column) => (
          <Cell key={column.head} column={column} row={row} />
        ))}
        {(actions || hasLast) && (
          <Table.Td role="cell">
            <Group gap={4} wrap="nowrap" justify="flex-end">
              {actions?.(row)}
            </Group>
          </Table.Td>
        )}
      </Table.Tr>
      {details && isOpen && (
        <Table.Tr id={detailsId} role="row">
          <Table.Td role="cell" colSpan={columns.length + (actions || hasLast ? 2 : 1)}>
            {details.content(row)}
          </Table.Td>
        </Table.Tr>
      )}
    </>
  )
}

function Select<T extends { id: string }>({ row, selection }: { row: T; selection: Selection<T> }) {
  const { ids, onChange, nameOf } = selection
  const isSelected = ids.has(row.id)
  const toggle = () => {
    const next = new Set(ids)
    if (isSelected) next.delete(row.id)
    else next.add(row.id)
    onChange(next)
  }
  return (
    <Table.Td role="cell">
      <Checkbox size="xs" mt={3} aria-label={`Select ${nameOf(row)}`} checked={isSelected} onChange={toggle} />
    </Table.Td>
  )
}

function Cell<T>({ column: { head, cell, wraps, copied }, row }: { column: Column<T>; row: T }) {
  const text = copied?.(row) ?? null
  return (
    <Table.Td role="cell" data-label={head} className={classOf(wraps, text)}>
      <div className="data-table-cell">
        <div className="data-table-text">{cell(row)}</div>
        {text !== null && <Copy text={text} />}
      </div>
    </Table.Td>
  )
}

const classOf = (wraps: boolean | undefined, copied: string | null) =>
  wraps ? 'data-table-wraps' : copied === null ? undefined : 'data-table-name'

function Copy({ text }: { text: string }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <ActionIcon
          className="data-table-copy"
          variant="subtle"
          color="gray"
          size="xs"
          onClick={copy}
          aria-label={copied ? 'Copied' : `Copy ${text}`}
          title={copied ? 'Copied' : 'Copy'}
        >
          {copied ? '✓' : <CopyIcon />}
        </ActionIcon>
      )}
    </CopyButton>
  )
}

/** Two sheets. Not a character: many fonts have none for it. */
const CopyIcon = () => (
  <svg viewBox="0 0 16 16" width={12} height={12} fill="none" stroke="currentColor" strokeWidth={1.5} aria-hidden>
    <rect x={5.5} y={5.5} width={8} height={8} rx={1} />
    <path d="M3 10.5H2.5v-8h8V3" />
  </svg>
)
